package trigon.software.lanes;

import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.software.connection.LocalQueuePair;
import trigon.software.connection.PendingConnection;
import trigon.software.connection.StreamReader;

/**
 * A lane on its way. Whatever goes wrong, there is a lane less, and that is all. Used under the queue pair's lock.
 */
final class PendingLane implements PendingConnection.Owner {

    private static final Logger log = LoggerFactory.getLogger(PendingLane.class);

    private final LocalQueuePair queuePair;
    private final LaneWorkers workers;
    private final OutgoingLanes lanes;
    private final SentPieces sent;
    private final int number;
    private final PendingConnection connection;

    PendingLane(
            LocalQueuePair queuePair,
            LaneWorkers workers,
            OutgoingLanes lanes,
            SentPieces sent,
            int number,
            int firstPsn) {
        this.queuePair = queuePair;
        this.workers = workers;
        this.lanes = lanes;
        this.sent = sent;
        this.number = number;
        connection = new PendingConnection(queuePair, firstPsn, number, this);
    }

    void start() {
        connection.start();
    }

    @Override
    public void onConnected(SocketChannel channel, SelectionKey key) {
        key.cancel();
        try {
            workers.assign(number, WorkerLanes.Direction.OUTGOING, worker -> {
                OutgoingLane lane = new OutgoingLane(channel, number, queuePair, worker, sent);
                lanes.add(this, lane);
                try {
                    worker.lanes().add(lane);
                } catch (IOException | OutOfMemoryError e) {
                    lanes.takeBack(lane);
                    throw e;
                }
            });
        } catch (IOException | OutOfMemoryError e) {
            StreamReader.closeQuietly(channel);
            onFailed(e);
        }
    }

    @Override
    public void onRefused(String reason) {
        log.debug("{} has no lane {}: {}", queuePair, number, reason);
        lanes.failed(this);
    }

    @Override
    public void onFailed(Throwable cause) {
        onRefused(cause.toString());
    }

    void giveUp() {
        connection.giveUp();
    }
}
