package trigon.software.responder;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.software.connection.DataConnection;
import trigon.software.wire.ConnectionProofs;
import trigon.software.wire.Preamble;
import trigon.software.wire.PreambleExchange;
import trigon.software.wire.WireFormat;
import trigon.stream.ByteStream;
import trigon.stream.hop.HopUpgrade;
import trigon.stream.loop.EventLoop;
import trigon.stream.loop.Timer;
import trigon.system.Memory;
import trigon.verbs.Gid;

/**
 * A connection that a peer's requester has opened: after the {@link PreambleExchange} its requests come in, and the
 * responses go out. The event loop's until the preamble is there; then used under the lock of the queue pair that it
 * named; and the event loop's again from {@link #finish} on.
 */
public final class InboundConnection extends DataConnection {

    /** The acceptor of its socket. */
    public interface Acceptor {

        /** The local address that it was accepted at. Any thread. */
        InetAddress address();

        /**
         * The last hop of one that comes through relays, before anything is said of it. Any thread.
         *
         * @param relay the address of the last relay
         */
        HopUpgrade lastHop(InetAddress relay);

        /** The buffer of its preamble, which may be shared with others of this thread. */
        ByteBuffer preambleBuffer();

        /** It has named the queue pair that it wants. */
        void onIdentified(InboundConnection connection, Preamble.Hello hello);

        /** It is closed for what its other side did. Any thread. */
        void onRejected(InetSocketAddress from, String reason);

        /** It has ended without a preamble. */
        void onClosed(InboundConnection connection);
    }

    /** Whose the connection is, in the order in which it is handed on. */
    private enum Phase {
        UNIDENTIFIED,
        KEPT,
        UPGRADES,
        ADOPTED,
        FINISHING
    }

    private static final Logger log = LoggerFactory.getLogger(InboundConnection.class);
    /** The longest that the end of a connection may take: the last responses, and the peer's reaction to them. */
    private static final long FINISH_NANOS = TimeUnit.SECONDS.toNanos(2);

    /** The longest that an accepted connection may take to identify itself. */
    public static final long PREAMBLE_SECONDS = 5;

    private final SocketChannel channel;
    private final InetSocketAddress from;
    private final Acceptor acceptor;
    private final Timer deadline;
    private final PreambleExchange exchange = new PreambleExchange();
    private volatile Phase phase = Phase.UNIDENTIFIED;
    private Preamble.@Nullable Hello hello;
    private @Nullable ConnectionOwner owner;
    /** From the adoption on, as is a buffer for input. */
    private @Nullable ResponseStream stream;

    /** The upgrade of the hop from the last relay; null where there is none, or the bytes stay on TCP. */
    private @Nullable HopUpgrade upgrade;

    private boolean refusing;

    /**
     * Greets a client that was just accepted. In the event loop's thread.
     *
     * @throws IOException if it is gone already
     */
    public InboundConnection(SocketChannel channel, EventLoop eventLoop, Acceptor acceptor) throws IOException {
        super(channel, eventLoop, WireFormat.PREAMBLE_BYTES, acceptor.preambleBuffer());
        this.channel = channel;
        this.acceptor = acceptor;
        from = (InetSocketAddress) channel.getRemoteAddress();
        writeAll(exchange.greet());
        deadline = new Timer(this::onDeadline);
        eventLoop.schedule(deadline, TimeUnit.SECONDS.toNanos(PREAMBLE_SECONDS));
        arm();
    }

    private void onDeadline() {
        ConnectionOwner current = owner;
        if (phase == Phase.UNIDENTIFIED) {
            reject("it has not identified itself for " + PREAMBLE_SECONDS + " s");
        } else if (phase == Phase.UPGRADES && current != null) {
            current.locked(() -> decline("the last relay does not say what carries it"));
        } else {
            close();
        }
    }

    /** A few bytes, to a socket that has room for as many. */
    private void writeAll(ByteBuffer bytes) throws IOException {
        channel.write(bytes);
        if (bytes.hasRemaining()) {
            throw new IOException("a fresh socket has no room");
        }
    }

    /** Only after {@link #adoptedBy}. */
    ResponseStream stream() {
        ResponseStream mine = stream;
        if (mine == null) {
            throw new IllegalStateException("the connection has no owner");
        }
        return mine;
    }

    /** The preamble of the other end; only after it has come. */
    Preamble.Hello hello() {
        Preamble.Hello known = hello;
        if (known == null) {
            throw new IllegalStateException("no preamble yet");
        }
        return known;
    }

    /** Returns whether it has proven to know the key of the queue pair that it named. */
    boolean isProven(ConnectionProofs proofs) {
        return exchange.isProven(proofs, ownGid());
    }

    /** Tells the peer that it is taken, with this end's proof: only now it sends what is to be sent. */
    void accept(ConnectionProofs proofs) throws IOException {
        writeAll(exchange.acceptance(proofs, ownGid()));
    }

    private Gid ownGid() {
        return Gid.of(acceptor.address());
    }

    public InetAddress address() {
        return from.getAddress();
    }

    /** Waits until a responder adopts or declines it. */
    void keep() {
        phase = Phase.KEPT;
    }

    /**
     * The requests belong to that responder from now on.
     *
     * @throws OutOfMemoryError if there is no memory for its buffers; then nothing has changed
     */
    void adoptedBy(ConnectionOwner responder) {
        ResponseStream responses = new ResponseStream(carrier());
        if (hello().upgrades()) {
            stopSharing();
            upgrade = acceptor.lastHop(address());
            expectHeaders(upgrade.expected().capacity());
            phase = Phase.UPGRADES;
            eventLoop().schedule(deadline, TimeUnit.SECONDS.toNanos(PREAMBLE_SECONDS));
            keepSelected();
        } else {
            takeOwnBuffer();
            phase = Phase.ADOPTED;
        }
        owner = responder;
        stream = responses;
        resume();
    }

    /** Answers the last relay, whose word on the hop from there lies at that address. */
    private void goOnUpgrading(HopUpgrade begun, long at) {
        try {
            ByteBuffer expected = begun.expected();
            Memory.copy(at, MemorySegment.ofBuffer(expected), expected.capacity());
            writeAll(ByteBuffer.wrap(begun.next()));
            expectHeaders(begun.expected().capacity());
            if (begun.isOver()) {
                takeOwnBuffer();
                ByteStream carrier = begun.carrier(channel, eventLoop()::execute);
                upgrade = null;
                eventLoop().cancel(deadline);
                expectHeaders(WireFormat.REQUEST_BYTES);
                phase = Phase.ADOPTED;
                carryBy(carrier);
                stream().carryBy(carrier);
            }
        } catch (IOException | OutOfMemoryError e) {
            end(e.toString());
        }
    }

    /** Returns whether it is the event loop's still: its last hop has no carrier yet. */
    boolean isUpgrading() {
        return upgrade != null;
    }

    @Override
    protected boolean staysSelected() {
        return isUpgrading() || super.staysSelected();
    }

    /** Ends it for what the peer did, with a line in the log. */
    public void reject(String reason) {
        acceptor.onRejected(from, reason);
        close();
    }

    /** Ends it because the queue pair is not there for it: the peer may just be a moment late. */
    public void decline(String reason) {
        log.debug("{} is closed: {}", from, reason);
        close();
    }

    /** Ends it at once; nothing more is read from or written to memory. */
    void close() {
        end("this side has finished with it");
    }

    /** Ends it once the last responses are out, so that the peer learns what has been done; takes no more requests. */
    void finish() {
        owner = null;
        discard();
        eventLoop().execute(this::startFinishing);
        phase = Phase.FINISHING;
    }

    private void startFinishing() {
        if (!isEnded()) {
            eventLoop().schedule(deadline, FINISH_NANOS);
            goOnFinishing();
        }
    }

    private void goOnFinishing() {
        listen();
        stream().ring();
        if (stream().isIdle()) {
            try {
                carrier().shutdownOutput();
            } catch (IOException e) {
                end(e.toString());
                return;
            }
        }
        receive();
        if (!isEnded()) {
            disarm();
            arm();
        }
    }

    @Override
    public void onReady() {
        switch (phase) {
            case UNIDENTIFIED -> {
                receive();
                Preamble.Hello named = hello;
                if (named != null && !isEnded()) {
                    disarm();
                    acceptor.onIdentified(this, named);
                }
            }
            case KEPT -> disarm();
            case UPGRADES, ADOPTED -> {
                ConnectionOwner current = owner;
                if (current != null && phase == Phase.UPGRADES) {
                    current.locked(this::receive);
                } else if (current != null) {
                    current.onReady();
                }
            }
            case FINISHING -> goOnFinishing();
        }
    }

    @Override
    protected boolean hasOutput() {
        return stream != null && !stream.isIdle();
    }

    @Override
    protected int bytesUnderWay() {
        return carrier().isSelectable() ? payloadBytes() : 0;
    }

    @Override
    protected void onHeader(long at) {
        HopUpgrade begun = upgrade;
        if (begun != null) {
            goOnUpgrading(begun, at);
            return;
        }
        ConnectionOwner current = owner;
        if (current != null) {
            current.onRequest(at);
            return;
        }
        eventLoop().cancel(deadline);
        switch (exchange.readPreamble(at)) {
            case Preamble.Malformed malformed -> reject(malformed.reason());
            case Preamble.Hello named -> {
                hello = named;
                expectHeaders(WireFormat.REQUEST_BYTES);
                pause(); // what follows is the queue pair's, under its lock
            }
        }
    }

    @Override
    protected void onPayload(long at, int bytes, boolean last) {
        ConnectionOwner current = owner;
        if (current != null) {
            current.onPayload(at, bytes, last);
        }
    }

    @Override
    protected @Nullable ByteBuffer inPlace(int bytes) {
        ConnectionOwner current = owner;
        return current == null ? null : current.inPlace(bytes);
    }

    @Override
    protected void onPayloadInPlace(int bytes, boolean last) {
        ConnectionOwner current = owner;
        if (current != null) {
            current.onPayloadInPlace(bytes, last);
        }
    }

    @Override
    protected boolean isLeftToMover(int bytes) {
        ConnectionOwner current = owner;
        return current != null && current.isLeftToMover(bytes);
    }

    /** A refusal is queued: no request after it counts. */
    void onRefused() {
        refusing = true;
        ConnectionOwner current = owner;
        if (current != null) {
            current.onRefused();
        }
        discard();
    }

    /** Returns whether a refusal is the last that is said on it. */
    boolean isRefusing() {
        return refusing;
    }

    @Override
    protected void onClosed() {
        eventLoop().cancel(deadline);
        if (upgrade != null) {
            upgrade.close();
        }
        if (stream != null) {
            stream.stop();
        }
        if (hello == null) {
            acceptor.onClosed(this);
        }
        ConnectionOwner current = owner;
        owner = null;
        if (current != null) {
            current.onConnectionClosed(this);
        }
        leaveSelectors();
    }
}
