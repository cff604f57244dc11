package trigon.software.connection;

import trigon.software.call.NativePair;
import trigon.software.wire.ConnectionProofs;

/**
 * The queue pair at this end, for the connections that serve it; what it says as a string names it in logs.
 * Under its lock where nothing else is said.
 */
public interface LocalQueuePair {

    /** Its number. Any thread. */
    int number();

    /** The device that it belongs to. Any thread. */
    LocalDevice device();

    /** The lock that it makes progress under. Any thread. */
    ProgressLock lock();

    /** Returns its part in C. Any thread. */
    NativePair inC();

    /** The queue pair at the other end; only from READY_TO_RECEIVE on. */
    Peer peer();

    /** The proofs of the peer's connections, and of this end's to the peer. */
    ConnectionProofs proofs();

    /**
     * One of its connections has ended, and not since the queue pair was stopped: what was sent on it may be
     * lost though its request is complete, and nobody need have posted something that fails by it. Any thread.
     */
    void onBroken();
}
