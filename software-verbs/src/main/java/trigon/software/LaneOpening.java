package trigon.software;

import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A lane on its way. Whatever goes wrong, there is a lane less, and that is all. Used under the queue pair's lock.
 */
final class LaneOpening implements Opening.Owner {

    private static final Logger log = LoggerFactory.getLogger(LaneOpening.class);

    private final SoftwareQueuePair queuePair;
    private final Lanes lanes;
    private final SentPieces sent;
    private final int number;
    private final Opening opening;

    LaneOpening(SoftwareQueuePair queuePair, Lanes lanes, SentPieces sent, int number, int firstPsn) {
        this.queuePair = queuePair;
        this.lanes = lanes;
        this.sent = sent;
        this.number = number;
        opening = new Opening(queuePair, firstPsn, number, this);
    }

    void start() {
        opening.start();
    }

    @Override
    public void onOpened(SocketChannel channel, SelectionKey key) {
        key.cancel();
        try {
            queuePair.context().laneWorkers().deal(number, LaneWorkers.Direction.OUTGOING, worker -> {
                OutgoingLane lane = new OutgoingLane(channel, number, queuePair, worker, sent);
                lanes.add(this, lane);
                try {
                    worker.add(lane);
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
        opening.giveUp();
    }
}
