package trigon.software.lanes;

import java.nio.ByteBuffer;
import trigon.software.connection.LocalQueuePair;

/**
 * What a lane knows of the worker that moves its pieces: the one that it is assigned to, or, to send, one that helps.
 * During the worker's iterations, but for what says otherwise.
 */
interface LaneHost {

    /** There is something to do on one of its lanes. Any thread; data path: costs nothing while the worker is awake. */
    void wake();

    /** Has a queue pair look at what has become of its messages, after this iteration. */
    void tell(LocalQueuePair queuePair);

    /** Where its lanes receive, one after the other. */
    ByteBuffer receiveBuffer();

    /** A lane waits for a receive to be posted: it is looked at again in each iteration until that is there. */
    void stalled(IncomingLane lane);

    /** Receives no more on a lane, and closes it, between two iterations. Any thread. */
    void remove(IncomingLane lane);

    /** Sends no more on a lane, and closes it, between two iterations. Any thread. */
    void remove(OutgoingLane lane);
}
