package trigon.software.responder;

import trigon.software.connection.LocalQueuePair;
import trigon.verbs.QueuePairStateCode;

/** The queue pair at this end, for its {@link Responder}. Under its lock. */
public interface RespondingQueuePair extends LocalQueuePair {

    QueuePairStateCode state();

    boolean isClosed();
}
