package trigon.software.responder;

import trigon.software.connection.LocalQueuePair;
import trigon.verbs.AccessFlag;
import trigon.verbs.QueuePairStateCode;

/** The queue pair at this end, for its {@link Responder}. Under its lock. */
public interface RespondingQueuePair extends LocalQueuePair {

    QueuePairStateCode state();

    boolean isClosed();

    /** Returns whether the peer may access memory like that. */
    boolean allows(AccessFlag flag);

    /** The code of the RNR timer that the peer is told when it has to wait for a receive. */
    int minRnrTimer();

    /** A receive that is posted is, or is not, to be looked at at once. */
    void setAwaitsReceive(boolean awaits);

    /** Returns whether the connection that this end opened has ended. */
    boolean hasLostOutboundConnection();

    /** Reports that a receive work request is complete, or has failed. */
    void completeReceive(long workRequestId, int status, int opcode, int byteLength, int immediate, int flags);
}
