package trigon.transport.protocol;

import trigon.transport.metrics.PathCounters;
import trigon.transport.path.PathChannel;
import trigon.transport.request.RequestRow;
import trigon.transport.request.Requests;
import trigon.verbs.QueuePair;

/** A receiver's side of one of its paths. */
final class IncomingPath {

    /** Receive work requests that are posted with one call; so many of them may be for requests to come. */
    static final int RECEIVES_AT_ONCE = 16;

    final QueuePair queuePair;
    private final PathCounters counters;

    /** Receive work requests posted, and those of them that an immediate has taken. */
    private long posted;

    private long arrived;

    /** By slot, the latest immediates; only where there are several paths. */
    private final int[] immediates;

    /**
     * Over which nothing has come yet.
     *
     * @param before messages that came over the paths before it, where its own are counted from
     */
    IncomingPath(PathChannel path, boolean oneOfSeveral, long before) {
        posted = before;
        arrived = before;
        queuePair = path.queuePair();
        counters = path.counters();
        immediates = new int[oneOfSeveral ? RequestRow.REQUESTS : 0];
    }

    /** Has a receive work request for each of so many messages that may come. Returns 0 or an errno. */
    int prepare(long messages) {
        if (posted - arrived >= messages) {
            return 0;
        }
        posted += RECEIVES_AT_ONCE;
        // a message's receive work request says nothing of it, so any will do
        return queuePair.postEmptyReceives(RECEIVES_AT_ONCE);
    }

    /** A message of that many bytes, or a part of one, has come. */
    void arrived(int bytes) {
        arrived++;
        counters.message(bytes);
    }

    /** The same where there are several paths. */
    void arrivedWith(int immediate) {
        immediates[Requests.slot(arrived)] = immediate;
        arrived(immediate & ~RendezvousSender.PART);
    }

    long arrivals() {
        return arrived;
    }

    int immediate(long number) {
        return immediates[Requests.slot(number)];
    }
}
