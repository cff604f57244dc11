package trigon.software.connection;

import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.software.wire.Preamble;
import trigon.software.wire.PreambleExchange;
import trigon.software.wire.WireFormat;
import trigon.stream.ByteStream;
import trigon.stream.Conversation;
import trigon.stream.dial.PendingStream;
import trigon.stream.dial.PendingStream.Attendance;
import trigon.verbs.Gid;

/**
 * A data connection on its way, from the device's address to the peer's device: it hears the greeting, says and proves
 * whose it is, and waits until the peer has taken it and proven the same. Nothing is sent before that. Used under the
 * queue pair's lock; what goes on, goes on in the event loop's thread.
 */
public final class PendingConnection implements Conversation, PendingStream.Owner {

    /** The owner of the connection; told once how it ended, unless it {@linkplain #giveUp cancels} first. */
    public interface Owner {

        /**
         * The peer has accepted it. Its place in the selector is left as it is; so is what carries the bytes.
         *
         * @param relayed whether it goes through relays
         */
        void onConnected(SocketChannel channel, SelectionKey key, ByteStream carrier, boolean relayed);

        /** Nobody listens there, or who does takes no connection from here. */
        void onRefused(String reason);

        /** Something else went wrong, a lack of buffers for example: there may be some in a moment. */
        void onFailed(Throwable cause);
    }

    private static final Logger log = LoggerFactory.getLogger(PendingConnection.class);

    private final LocalQueuePair queuePair;
    private final int firstPsn;
    private final Owner owner;
    private final PreambleExchange exchange = new PreambleExchange();
    private final PendingStream stream;
    private ByteBuffer expected = exchange.greetingSpace();
    private boolean greeted;

    /**
     * A connection to be.
     *
     * @param firstPsn PSN of the requester's first request
     */
    public PendingConnection(LocalQueuePair queuePair, int firstPsn, Owner owner) {
        this.queuePair = queuePair;
        this.firstPsn = firstPsn;
        this.owner = owner;
        LocalDevice device = queuePair.device();
        stream = device.dialer().dial(device.address(), peer().address(), WireFormat.SAID_FIRST);
    }

    /** Begins to connect; once. */
    public void start() {
        stream.start(new Attendance(queuePair.device().eventLoop(), queuePair.lock()::locked, this, this));
    }

    private Peer peer() {
        return queuePair.peer();
    }

    @Override
    public ByteBuffer expected() {
        return expected;
    }

    @Override
    public Step next() {
        if (greeted) {
            boolean taken = exchange.isAccepted(expected.array(), queuePair.proofs(), peer().gid());
            return taken ? new Step.Open() : refused("its key is wrong, so it is not the peer");
        }
        greeted = true;
        Optional<String> refusal = exchange.refusal();
        return refusal.isPresent() ? refused(refusal.get()) : answer();
    }

    private Step answer() {
        Preamble.Hello hello = new Preamble.Hello(
                peer().number(),
                queuePair.number(),
                firstPsn,
                Gid.of(queuePair.device().address()),
                stream.isUpgraded());
        ByteBuffer answer = exchange.answer(hello, queuePair.proofs(), peer().gid());
        byte[] bytes = new byte[answer.remaining()];
        answer.get(bytes);
        expected = ByteBuffer.allocate(WireFormat.ACCEPTANCE_BYTES);
        return new Step.Send(bytes);
    }

    private Step refused(String reason) {
        log.warn("{} cannot send to {}: {}", queuePair.device().name(), peer().address(), reason);
        return new Step.Refused(reason);
    }

    @Override
    public void onOpened(SocketChannel channel, SelectionKey key, ByteStream carrier) {
        owner.onConnected(channel, key, carrier, stream.isRelayed());
    }

    @Override
    public void onRefused(String reason) {
        owner.onRefused(reason);
    }

    @Override
    public void onFailed(Throwable cause) {
        owner.onFailed(cause);
    }

    /** Closes it, unless it is there already. */
    public void giveUp() {
        stream.giveUp();
    }
}
