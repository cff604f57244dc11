package trigon.software;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.verbs.Gid;

/**
 * A connection that a peer's requester has opened: after the {@link Introduction} its requests come in, and the responses
 * go out. The attendant's until the preamble is there; then used under the lock of the queue pair that it named; and the
 * attendant's again from {@link #finish} on.
 */
final class InboundConnection extends Connection {

    /** Whose it is. */
    private enum Phase {
        STRANGER,
        KEPT,
        ADOPTED,
        FINISHING
    }

    private static final Logger log = LoggerFactory.getLogger(InboundConnection.class);

    /** How long the end of a connection may take: the last responses, and the peer's reaction to them. */
    private static final long FINISH_NANOS = TimeUnit.SECONDS.toNanos(2);

    private final SocketChannel channel;
    private final InetSocketAddress from;
    private final Listener listener;
    private final Timer deadline;
    private final Introduction introduction = new Introduction();
    private volatile Phase phase = Phase.STRANGER;
    private Preamble.@Nullable Hello hello;

    private @Nullable Responder responder;
    /** From the adoption on, as is a buffer for what comes in: strangers get no memory but for the preamble. */
    private @Nullable ResponseStream stream;

    private boolean refusing;

    InboundConnection(SocketChannel channel, Attendant attendant, Listener listener, long preambleMillis)
            throws IOException {
        super(channel, attendant, WireFormat.PREAMBLE_BYTES, listener.preambleBuffer());
        this.channel = channel;
        this.listener = listener;
        from = (InetSocketAddress) channel.getRemoteAddress();
        writeAll(introduction.greet());
        deadline = new Timer(() -> {
            if (phase == Phase.STRANGER) {
                reject("it said nothing for " + preambleMillis + " ms");
            } else {
                close();
            }
        });
        attendant.schedule(deadline, TimeUnit.MILLISECONDS.toNanos(preambleMillis));
        arm();
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
            throw new IllegalStateException("nobody has adopted the connection");
        }
        return mine;
    }

    /** Who is at the other end; only after the preamble. */
    Preamble.Hello hello() {
        Preamble.Hello known = hello;
        if (known == null) {
            throw new IllegalStateException("no preamble yet");
        }
        return known;
    }

    /** Whether it has proven to know the key of the queue pair that it named. */
    boolean isProven(ConnectionProofs proofs) {
        return introduction.isProven(proofs, ownGid());
    }

    /** Tells the peer that it is taken, with this end's proof: only now it sends what is to be sent. */
    void accept(ConnectionProofs proofs) throws IOException {
        writeAll(introduction.acceptance(proofs, ownGid()));
    }

    private Gid ownGid() {
        return Gid.of(listener.address());
    }

    /** Where it comes from. */
    InetAddress address() {
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
    void adoptedBy(Responder owner) {
        ResponseStream responses = new ResponseStream(channel, this);
        takeOwnBuffer();
        responder = owner;
        stream = responses;
        phase = Phase.ADOPTED;
        resume();
    }

    /** What takes the socket over. */
    interface LaneTaker {

        void take(SocketChannel channel) throws IOException;
    }

    /** It is a lane, and a worker's from now on. */
    void becomeLane(LaneTaker taker) {
        leaveAttendant();
        try {
            taker.take(channel);
        } catch (IOException | OutOfMemoryError e) {
            end(e.toString());
        }
    }

    /** Ends it for what the peer did, with a line in the log. */
    void reject(String reason) {
        listener.rejected(from, reason);
        close();
    }

    /** Ends it because the queue pair is not there for it: the peer may just be a moment late. */
    void decline(String reason) {
        log.debug("{} is closed: {}", from, reason);
        close();
    }

    /** Ends it at once; nothing more is read from or written to memory. */
    void close() {
        end("this side is done with it");
    }

    /** Ends it once the last responses are out, so that the peer learns what has been done; takes no more requests. */
    void finish() {
        responder = null;
        if (stream().readsMemory()) {
            close();
            return;
        }
        discard();
        attendant().execute(this::startFinishing);
        phase = Phase.FINISHING;
    }

    private void startFinishing() {
        if (!isEnded()) {
            attendant().schedule(deadline, FINISH_NANOS);
            goOnFinishing();
        }
    }

    private void goOnFinishing() {
        stream().ring();
        if (stream().isIdle()) {
            try {
                channel.shutdownOutput();
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
            case STRANGER -> {
                receive();
                Preamble.Hello named = hello;
                if (named != null && !isEnded()) {
                    disarm();
                    listener.identified(this, named);
                }
            }
            case KEPT -> disarm();
            case ADOPTED -> {
                Responder owner = responder;
                if (owner != null) {
                    owner.queuePair().turns().onReady();
                }
            }
            case FINISHING -> goOnFinishing();
        }
    }

    @Override
    boolean hasOutput() {
        return stream != null && !stream.isIdle();
    }

    @Override
    void onHeader(long at) {
        Responder owner = responder;
        if (owner != null) {
            owner.onRequest(at);
            return;
        }
        attendant().cancel(deadline);
        switch (introduction.hear(at)) {
            case Preamble.Malformed malformed -> reject(malformed.reason());
            case Preamble.Hello named -> {
                hello = named;
                expectHeaders(WireFormat.REQUEST_BYTES);
                pause(); // what follows is the queue pair's, under its lock
            }
        }
    }

    @Override
    void onPayload(long at, int bytes, boolean last) {
        Responder owner = responder;
        if (owner != null) {
            owner.onPayload(at, bytes, last);
        }
    }

    /** A refusal is queued: no request after it counts. */
    void onRefused() {
        refusing = true;
        Responder owner = responder;
        if (owner != null) {
            owner.onRefused();
        }
        discard();
    }

    /** Whether a refusal is the last that is said on it. */
    boolean isRefusing() {
        return refusing;
    }

    @Override
    void onClosed() {
        attendant().cancel(deadline);
        if (stream != null) {
            stream.stop();
        }
        if (hello == null) {
            listener.closed(this);
        }
        Responder owner = responder;
        responder = null;
        if (owner != null) {
            owner.onConnectionClosed(this);
        }
        attendant().wakeUp(); // lets go of the socket
    }
}
