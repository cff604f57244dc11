package trigon.software;

import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.util.Arrays;

/** The lanes that a peer has opened to a queue pair. Changed under the queue pair's lock. */
final class IncomingLanes {

    /** Lanes that a peer may open. */
    private static final int LIMIT = 64;

    private final SoftwareQueuePair queuePair;
    private final ReceiveQueue receives;
    private final IncomingPieces pieces;

    /** Replaced with every change, for the posting thread. */
    private volatile IncomingLane[] lanes = new IncomingLane[0];

    private volatile boolean areBusy;

    IncomingLanes(SoftwareQueuePair queuePair, ReceiveQueue receives, IncomingPieces pieces) {
        this.queuePair = queuePair;
        this.receives = receives;
        this.pieces = pieces;
    }

    /** A connection of the queue pair's peer that asks to be a lane. It is taken or ended. */
    void offer(InboundConnection candidate) {
        LaneWorkers workers = queuePair.context().laneWorkers();
        if (candidate.hello().lane() > LIMIT || lanes.length == LIMIT) {
            candidate.reject("it is no lane of the peer of " + queuePair);
        } else if (!workers.settings().areUsed()) {
            candidate.decline("this process uses no lanes");
        } else {
            int number = candidate.hello().lane();
            candidate.becomeLane(channel -> workers.deal(
                    number, LaneWorkers.Direction.INCOMING, worker -> take(candidate, channel, number, worker)));
        }
    }

    private void take(InboundConnection candidate, SocketChannel channel, int number, LaneWorker worker)
            throws IOException {
        IncomingLane lane = new IncomingLane(channel, number, queuePair, worker, receives, pieces);
        IncomingLane[] before = lanes;
        IncomingLane[] more = Arrays.copyOf(before, before.length + 1);
        more[before.length] = lane;
        worker.add(lane);
        lanes = more;
        try {
            candidate.accept(queuePair.proofs()); // the peer may use it
        } catch (IOException | OutOfMemoryError e) {
            lanes = before;
            worker.remove(lane); // so that nobody waits for what comes on it
            throw e;
        }
    }

    /** Whether the last message came on them, so that the next one may. */
    void setBusy(boolean busy) {
        if (areBusy != busy) {
            areBusy = busy;
        }
    }

    boolean areBusy() {
        return areBusy;
    }

    /** A receive was posted, so a message is to be expected, or has been waiting for it. The posting thread. */
    void onReceivePosted() {
        for (IncomingLane lane : lanes) {
            if ((areBusy && lane.isFirst()) || lane.isStalled()) {
                lane.worker().wake();
            }
        }
    }

    /** Whether the message with that PSN, or a part of it, may still come. */
    boolean mayBring(int psn) {
        for (IncomingLane lane : lanes) {
            if (lane.mayBring(psn)) {
                return true;
            }
        }
        return false;
    }

    /** {@link SocketOptions#askOften} on all of them. */
    void askOften() {
        for (IncomingLane lane : lanes) {
            lane.askOften();
        }
    }

    /** Closes all; none of them touches memory any more. */
    void stop() {
        for (IncomingLane lane : lanes) {
            lane.worker().remove(lane);
        }
        lanes = new IncomingLane[0];
        areBusy = false;
    }
}
