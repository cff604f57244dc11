package trigon.software;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.verbs.Gid;

/**
 * A lane on its way: connects to the peer's device, says whose it is, and waits for one byte that says that the peer
 * has taken it. Whatever goes wrong, there is a lane less, and that is all. Used under the queue pair's lock.
 */
final class LaneOpening {

    private static final Logger log = LoggerFactory.getLogger(LaneOpening.class);

    private final SoftwareQueuePair queuePair;
    private final Lanes lanes;
    private final SentPieces sent;
    private final int number;
    private final int firstPsn;
    private @Nullable SocketChannel channel;
    private @Nullable SelectionKey key;
    private boolean over;

    LaneOpening(SoftwareQueuePair queuePair, Lanes lanes, SentPieces sent, int number, int firstPsn) {
        this.queuePair = queuePair;
        this.lanes = lanes;
        this.sent = sent;
        this.number = number;
        this.firstPsn = firstPsn;
    }

    void start() {
        try {
            SocketChannel opening = SocketChannel.open();
            channel = opening;
            SoftwareDeviceContext context = queuePair.context();
            context.socketOptions().apply(opening);
            opening.bind(new InetSocketAddress(context.device().address(), 0));
            boolean connected = opening.connect(queuePair.peer().address());
            key = queuePair
                    .attendant()
                    .register(
                            opening,
                            connected ? SelectionKey.OP_READ : SelectionKey.OP_CONNECT,
                            () -> queuePair.locked(() -> onReady(opening)));
            if (connected) {
                introduce(opening);
            }
        } catch (IOException | OutOfMemoryError e) {
            failed(e);
        }
    }

    private void onReady(SocketChannel opening) {
        SelectionKey mine = key;
        if (over || mine == null) {
            return;
        }
        try {
            if (!mine.isConnectable()) {
                finish(opening, mine);
            } else if (opening.finishConnect()) {
                mine.interestOps(SelectionKey.OP_READ);
                introduce(opening);
            }
        } catch (IOException | OutOfMemoryError e) {
            failed(e);
        }
    }

    private void introduce(SocketChannel opening) throws IOException {
        ByteBuffer preamble = ByteBuffer.allocateDirect(WireFormat.PREAMBLE_BYTES);
        WireFormat.putPreamble(
                MemorySegment.ofBuffer(preamble).address(),
                queuePair.peer().number(),
                queuePair.number(),
                firstPsn,
                Gid.of(queuePair.context().device().address()),
                number);
        if (opening.write(preamble) < WireFormat.PREAMBLE_BYTES) {
            throw new IOException("a fresh socket takes no preamble");
        }
    }

    private void finish(SocketChannel opening, SelectionKey mine) throws IOException {
        int bytes = opening.read(ByteBuffer.allocate(1));
        if (bytes < 0) {
            throw new IOException("the peer has not taken it");
        }
        if (bytes > 0) {
            over = true;
            mine.cancel();
            LaneWorker worker = queuePair.context().laneWorkers().next();
            OutgoingLane lane = new OutgoingLane(opening, queuePair, worker, sent);
            worker.add(lane);
            lanes.add(this, lane);
        }
    }

    private void failed(Throwable cause) {
        log.debug("{} has no lane {}: {}", queuePair, number, cause.toString());
        giveUp();
        lanes.failed(this);
    }

    void giveUp() {
        over = true;
        SocketChannel unfinished = channel;
        if (unfinished != null) {
            StreamReader.closeQuietly(unfinished);
            queuePair.attendant().wakeUp(); // lets go of the socket
        }
    }
}
