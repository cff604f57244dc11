package trigon.software;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.verbs.Gid;

/**
 * A data connection on its way, from the device's address: it connects to the peer's device, hears the greeting, says
 * and proves whose it is, and waits until the peer has taken it and proven the same. Nothing is sent before that. Used
 * under the queue pair's lock; what goes on, goes on in the attendant's thread.
 */
final class Opening {

    /** Who wants the connection; told once how it ended, unless he {@linkplain #giveUp gives up} before. */
    interface Owner {

        /** The peer has taken it. Its place in the selector is left as it is. */
        void onOpened(SocketChannel channel, SelectionKey key);

        /** Nobody listens there, or who does takes no connection from here. */
        void onRefused(String reason);

        /** Something else went wrong, a lack of buffers for example: there may be some in a moment. */
        void onFailed(Throwable cause);
    }

    private enum Phase {
        CONNECTING,
        AWAITS_GREETING,
        AWAITS_ACCEPTANCE,
        OVER
    }

    private static final Logger log = LoggerFactory.getLogger(Opening.class);

    private final SoftwareQueuePair queuePair;
    private final int firstPsn;
    private final int lane;
    private final Owner owner;
    private final Introduction introduction = new Introduction();

    private Phase phase = Phase.CONNECTING;
    private ByteBuffer expected = introduction.greetingSpace();
    private @Nullable SocketChannel channel;
    private @Nullable SelectionKey key;

    /**
     * A connection to be.
     *
     * @param firstPsn PSN of the requester's first request
     * @param lane 0 for the connection of the requests, else the number of a lane
     */
    Opening(SoftwareQueuePair queuePair, int firstPsn, int lane, Owner owner) {
        this.queuePair = queuePair;
        this.firstPsn = firstPsn;
        this.lane = lane;
        this.owner = owner;
    }

    /** To be called once. */
    void start() {
        try {
            SocketChannel opening = SocketChannel.open();
            channel = opening;
            SoftwareDeviceContext context = queuePair.context();
            context.socketOptions().apply(opening);
            opening.bind(new InetSocketAddress(context.device().address(), 0));
            boolean connected = opening.connect(peer().address());
            if (connected) {
                phase = Phase.AWAITS_GREETING;
            }
            key = queuePair
                    .attendant()
                    .register(
                            opening,
                            connected ? SelectionKey.OP_READ : SelectionKey.OP_CONNECT,
                            () -> queuePair.locked(() -> onReady(opening)));
        } catch (IOException | OutOfMemoryError e) {
            failed(e);
        }
    }

    private Peer peer() {
        return queuePair.peer();
    }

    private void onReady(SocketChannel opening) {
        SelectionKey mine = key;
        if (mine != null && isAccepted(opening, mine)) {
            phase = Phase.OVER;
            owner.onOpened(opening, mine);
        }
    }

    /** Goes on; whether the end is reached, and it is good. */
    private boolean isAccepted(SocketChannel opening, SelectionKey mine) {
        try {
            switch (phase) {
                case CONNECTING -> {
                    if (opening.finishConnect()) {
                        phase = Phase.AWAITS_GREETING;
                        mine.interestOps(SelectionKey.OP_READ);
                    }
                }
                case AWAITS_GREETING -> {
                    if (isRead(opening)) {
                        introduce(opening);
                    }
                }
                case AWAITS_ACCEPTANCE -> {
                    if (isRead(opening)) {
                        return isTaken();
                    }
                }
                case OVER -> {}
            }
        } catch (IOException | OutOfMemoryError e) {
            failed(e);
        }
        return false;
    }

    /** Reads no more than what is expected, and so nothing of what follows it. */
    private boolean isRead(SocketChannel opening) throws IOException {
        int bytes = 0;
        try {
            bytes = opening.read(expected);
        } catch (IOException e) {
            refused(String.valueOf(e.getMessage()));
            return false;
        }
        if (bytes < 0) {
            refused("it has closed the connection");
        }
        return !expected.hasRemaining();
    }

    private void introduce(SocketChannel opening) throws IOException {
        Optional<String> refusal = introduction.refusal();
        if (refusal.isPresent()) {
            warnAndRefuse(refusal.get());
            return;
        }
        Preamble.Hello hello = new Preamble.Hello(
                peer().number(),
                queuePair.number(),
                firstPsn,
                Gid.of(queuePair.context().device().address()),
                lane);
        ByteBuffer answer = introduction.answer(hello, queuePair.proofs(), peer().gid());
        opening.write(answer);
        if (answer.hasRemaining()) {
            throw new IOException("a fresh socket takes no preamble");
        }
        phase = Phase.AWAITS_ACCEPTANCE;
        expected = ByteBuffer.allocate(WireFormat.ACCEPTANCE_BYTES);
    }

    private boolean isTaken() {
        boolean taken = introduction.isAccepted(expected.array(), queuePair.proofs(), peer().gid());
        if (!taken) {
            warnAndRefuse("it does not know the connection's key, so it is not the peer");
        }
        return taken;
    }

    private void warnAndRefuse(String reason) {
        log.warn("{} does not send to {}: {}", queuePair, peer().address(), reason);
        refused(reason);
    }

    private void refused(String reason) {
        if (phase != Phase.OVER) {
            giveUp();
            owner.onRefused(reason);
        }
    }

    private void failed(Throwable cause) {
        giveUp();
        if (cause instanceof ConnectException) {
            owner.onRefused(String.valueOf(cause.getMessage()));
        } else {
            owner.onFailed(cause);
        }
    }

    /** Closes it, unless it is there already. */
    void giveUp() {
        SocketChannel unfinished = phase == Phase.OVER ? null : channel;
        phase = Phase.OVER;
        if (unfinished != null) {
            StreamReader.closeQuietly(unfinished);
            queuePair.attendant().wakeUp(); // lets go of the socket
        }
    }
}
