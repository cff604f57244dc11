package trigon.software.requester;

import trigon.software.connection.LocalQueuePair;

/** The queue pair at this end, for its {@link Requester}. Under its lock. */
public interface RequestingQueuePair extends LocalQueuePair {

    /** Returns whether requests may be sent. */
    boolean isReadyToSend();

    /** Returns whether the connection that the peer opened is there. */
    boolean hasInboundConnection();

    /** The requester's connection is open, or will not be for now. */
    void onConnectFinished();
}
