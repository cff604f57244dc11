package trigon.software.lanes;

import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.util.Arrays;
import trigon.software.connection.LocalQueuePair;
import trigon.software.connection.SocketOptions;
import trigon.software.queue.ReceiveQueue;

/** The lanes that a peer has opened to a queue pair. Changed under the queue pair's lock. */
public final class IncomingLanes {

    /** Lanes that a peer may open. */
    private static final int LIMIT = 64;

    private final LocalQueuePair queuePair;
    private final LaneWorkers workers;
    private final ReceiveQueue receives;
    private final IncomingPieces pieces;

    /** Tells the peer that it may use a lane. */
    public interface Acceptance {
        void send() throws IOException;
    }

    /** Replaced with every change, for the posting thread. */
    private volatile IncomingLane[] lanes = new IncomingLane[0];

    private volatile boolean areBusy;

    /** None yet. */
    public IncomingLanes(LocalQueuePair queuePair, LaneWorkers workers, ReceiveQueue receives, IncomingPieces pieces) {
        this.queuePair = queuePair;
        this.workers = workers;
        this.receives = receives;
        this.pieces = pieces;
    }

    /** Whether this process has workers for lanes. */
    public boolean areUsed() {
        return workers.settings().areUsed();
    }

    /** Whether the peer may open a lane with that number. */
    public boolean hasRoomFor(int number) {
        return number <= LIMIT && lanes.length < LIMIT;
    }

    /**
     * Begins to receive on a connection that the peer has opened.
     *
     * @param number the lane's, from 1
     * @throws IOException if there is no worker for it, or the peer cannot be told; then the channel is the caller's
     *     to close
     */
    public void open(int number, SocketChannel channel, Acceptance acceptance) throws IOException {
        workers.assign(number, WorkerLanes.Direction.INCOMING, worker -> open(number, channel, acceptance, worker));
    }

    private void open(int number, SocketChannel channel, Acceptance acceptance, LaneWorker worker) throws IOException {
        IncomingLane lane = new IncomingLane(channel, number, queuePair, worker, receives, pieces);
        IncomingLane[] before = lanes;
        IncomingLane[] more = Arrays.copyOf(before, before.length + 1);
        more[before.length] = lane;
        worker.lanes().add(lane);
        lanes = more;
        try {
            acceptance.send();
        } catch (IOException | OutOfMemoryError e) {
            lanes = before;
            worker.lanes().remove(lane); // so that nobody waits for what comes on it
            throw e;
        }
    }

    /** Whether the last message came on them, so that the next one may. */
    public void setBusy(boolean busy) {
        if (areBusy != busy) {
            areBusy = busy;
        }
    }

    /** Whether the last message came on them. Any thread. */
    public boolean areBusy() {
        return areBusy;
    }

    /** A receive was posted, so a message is to be expected, or has been waiting for it. The posting thread. */
    public void onReceivePosted() {
        for (IncomingLane lane : lanes) {
            if ((areBusy && lane.isFirst()) || lane.isStalled()) {
                lane.wakeWorker();
            }
        }
    }

    /** Whether the message with that PSN, or a part of it, may still come. */
    public boolean mayBring(int psn) {
        for (IncomingLane lane : lanes) {
            if (lane.mayBring(psn)) {
                return true;
            }
        }
        return false;
    }

    /** {@link SocketOptions#askOften} on all of them. */
    public void askOften() {
        for (IncomingLane lane : lanes) {
            lane.askOften();
        }
    }

    /** Closes all; none of them touches memory any more. */
    public void stop() {
        for (IncomingLane lane : lanes) {
            lane.close();
        }
        lanes = new IncomingLane[0];
        areBusy = false;
    }
}
