package trigon.software.responder;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.software.call.NativeConnection;
import trigon.software.connection.DataConnection;
import trigon.software.wire.ConnectionProofs;
import trigon.software.wire.Preamble;
import trigon.software.wire.PreambleExchange;
import trigon.software.wire.WireFormat;
import trigon.stream.ByteStream;
import trigon.stream.hop.HopUpgrade;
import trigon.stream.loop.EventLoop;
import trigon.stream.loop.Timer;
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

    private final InetSocketAddress from;
    private final Acceptor acceptor;
    private final Timer deadline;
    private final PreambleExchange exchange = new PreambleExchange();
    private volatile Phase phase = Phase.UNIDENTIFIED;

    /** What is read next, while C does not read. */
    private ByteBuffer expected = ByteBuffer.allocate(WireFormat.PREAMBLE_BYTES);

    private Preamble.@Nullable Hello hello;
    private @Nullable ConnectionOwner owner;

    /** The upgrade of the hop from the last relay; null where there is none, or the bytes stay on TCP. */
    private @Nullable HopUpgrade upgrade;

    /**
     * Greets a client that was just accepted. In the event loop's thread.
     *
     * @throws IOException if it is gone already
     */
    public InboundConnection(SocketChannel channel, EventLoop eventLoop, Acceptor acceptor) throws IOException {
        super(channel, eventLoop);
        this.acceptor = acceptor;
        from = (InetSocketAddress) channel.getRemoteAddress();
        writeAll(exchange.greet());
        deadline = new Timer(this::onDeadline);
        eventLoop.schedule(deadline, TimeUnit.SECONDS.toNanos(PREAMBLE_SECONDS));
        armAnew(false);
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
        channel().write(bytes);
        if (bytes.hasRemaining()) {
            throw new IOException("a fresh socket has no room");
        }
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
     * The requests belong to that responder from now on; {@link #open} follows.
     *
     * @throws OutOfMemoryError if there is no memory for its buffers; then nothing has changed
     */
    void adoptedBy(ConnectionOwner responder) {
        if (hello().upgrades()) {
            HopUpgrade begun = acceptor.lastHop(address());
            upgrade = begun;
            expected = begun.expected();
            phase = Phase.UPGRADES;
            eventLoop().schedule(deadline, TimeUnit.SECONDS.toNanos(PREAMBLE_SECONDS));
            keepSelected();
        } else {
            giveToC(NativeConnection.inbound(channel(), carrier()));
            phase = Phase.ADOPTED;
        }
        owner = responder;
    }

    /** The peer knows that it is taken: C reads what comes, unless its last hop has no carrier yet. */
    void open() {
        ConnectionOwner current = owner;
        if (phase == Phase.ADOPTED && current != null) {
            current.onOpen(this);
        }
    }

    private void goOnUpgrading() {
        HopUpgrade begun = upgrade;
        try {
            while (begun != null && upgrade == begun && fills(expected)) {
                writeAll(ByteBuffer.wrap(begun.next()));
                expected = begun.expected();
                if (begun.isOver()) {
                    ByteStream carrier = begun.carrier(channel(), eventLoop()::execute);
                    upgrade = null;
                    eventLoop().cancel(deadline);
                    carryBy(carrier);
                    giveToC(NativeConnection.inbound(channel(), carrier));
                    phase = Phase.ADOPTED;
                    open();
                }
            }
        } catch (IOException | OutOfMemoryError e) {
            end(e.toString());
        }
    }

    @Override
    protected boolean staysSelected() {
        return upgrade != null || super.staysSelected(); // it is the event loop's still
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

    /** Ends it at once; C has left it. */
    void close() {
        end("this side has finished with it");
    }

    /** Ends it once the last responses are out, so that the peer learns what has been done; takes no more requests. */
    void finish() {
        owner = null;
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
        NativeConnection mine = inC();
        listen(1);
        boolean over = mine == null || mine.finishResponses();
        if (over) {
            try {
                carrier().shutdownOutput();
            } catch (IOException e) {
                end(e.toString());
                return;
            }
        }
        discardInput();
        if (!isEnded()) {
            armAnew(!over);
        }
    }

    @Override
    public void onReady() {
        switch (phase) {
            case UNIDENTIFIED -> identify();
            case KEPT -> disarm();
            case UPGRADES, ADOPTED -> {
                ConnectionOwner current = owner;
                if (current != null && phase == Phase.UPGRADES) {
                    current.locked(this::goOnUpgrading);
                } else if (current != null) {
                    current.onReady();
                }
            }
            case FINISHING -> goOnFinishing();
        }
    }

    /** Reads no more than the preamble: what follows is C's. */
    private void identify() {
        try {
            if (!fills(expected)) {
                return;
            }
        } catch (IOException e) {
            end(e.toString());
            return;
        }
        eventLoop().cancel(deadline);
        switch (exchange.readPreamble(expected.array())) {
            case Preamble.Malformed malformed -> reject(malformed.reason());
            case Preamble.Hello named -> {
                hello = named;
                disarm();
                acceptor.onIdentified(this, named);
            }
        }
    }

    @Override
    protected void beforeClose() {
        NativeConnection mine = inC();
        if (mine != null) {
            mine.readTail();
        }
    }

    @Override
    protected void onClosed() {
        eventLoop().cancel(deadline);
        if (upgrade != null) {
            upgrade.close();
        }
        if (hello == null) {
            acceptor.onClosed(this);
        }
        ConnectionOwner current = owner;
        owner = null;
        if (current != null) {
            current.onConnectionClosed(this);
        }
    }

    @Override
    public void onLoopEnd(SelectableChannel channel) {
        ConnectionOwner current = owner;
        if (current != null) {
            current.onDeviceClosed();
        }
        end("the device is closed");
    }
}
