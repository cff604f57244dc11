package trigon.software.device;

import trigon.software.queue.ReceiveQueue;
import trigon.software.queue.SendQueue;
import trigon.verbs.QueuePairCapacity;

/**
 * The queues of a queue pair.
 *
 * @param sends its own, of posted sends
 * @param receives its own, of posted receives
 * @param sendCompletions where sends complete, of other queue pairs, too
 * @param receiveCompletions where receives complete; may be the same
 */
record Queues(
        SendQueue sends, ReceiveQueue receives, CompletionSink sendCompletions, CompletionSink receiveCompletions) {

    /** Empty ones, of that capacity. */
    static Queues of(QueuePairCapacity capacity, CompletionSink sendCompletions, CompletionSink receiveCompletions) {
        return new Queues(
                new SendQueue(capacity.sendWorkRequests(), capacity.inlineBytes()),
                new ReceiveQueue(capacity.receiveWorkRequests()),
                sendCompletions,
                receiveCompletions);
    }
}
