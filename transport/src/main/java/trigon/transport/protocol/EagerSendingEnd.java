package trigon.transport.protocol;

import java.util.List;
import org.jspecify.annotations.Nullable;
import trigon.transport.metrics.PathCounters;
import trigon.transport.path.PathChannel;
import trigon.transport.request.Requests;
import trigon.verbs.QueuePair;
import trigon.verbs.WorkCompletions;

/** The sending end with {@link MessageProtocol#EAGER}: a message is a SEND whose immediate is NCCL's tag. */
abstract sealed class EagerSendingEnd implements SendProtocol permits EagerSender, EagerUncopiedSender {

    final Requests requests;
    QueuePair queuePair;
    PathCounters counters;

    /** Messages that the peer had when the path was taken. */
    long confirmedBefore;

    /** Messages whose requests are done. */
    long finished;

    /** The message that is to be sent again next; {@link #begun} if none is. */
    long repeated;

    /** New messages are refused. */
    boolean held;

    private @Nullable ProtocolFailure failure;

    EagerSendingEnd(PathChannel path, Requests requests) {
        this.requests = requests;
        queuePair = path.queuePair();
        counters = path.counters();
    }

    final long refused(int errno) {
        failure = new ProtocolFailure.Refused(0, "ibv_post_send", errno);
        return FAILED;
    }

    /** In their order; one that is sent again may have been done before. */
    @Override
    public final boolean succeeded(int path, WorkCompletions completions, int index) {
        finishBelow(completions.workRequestId(index) + 1);
        return true;
    }

    private void finishBelow(long end) {
        while (finished < end) {
            int slot = Requests.slot(finished++);
            requests.complete(slot, requests.size(slot));
        }
    }

    @Override
    public final MessageProtocol kind() {
        return MessageProtocol.EAGER;
    }

    @Override
    public final long finished() {
        return finished;
    }

    @Override
    public void holdBack(boolean on) {
        held = on;
    }

    /** Goes on over a path, whose end has so many messages of those from {@code oldest} on that are known. */
    final void take(List<PathChannel> paths, long received, long oldest) {
        if (paths.size() != 1 || received < oldest || received > begun()) {
            throw new IllegalArgumentException("%d paths, and %d messages received of %d to %d that are known"
                    .formatted(paths.size(), received, oldest, begun()));
        }
        queuePair = paths.getFirst().queuePair();
        counters = paths.getFirst().counters();
        finishBelow(received);
        confirmedBefore = received;
        repeated = received;
        held = false;
    }

    @Override
    public final @Nullable ProtocolFailure failure() {
        return failure;
    }
}
