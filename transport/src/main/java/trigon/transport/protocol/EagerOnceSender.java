package trigon.transport.protocol;

import org.jspecify.annotations.Nullable;
import trigon.transport.metrics.PathCounters;
import trigon.transport.path.PathChannel;
import trigon.transport.path.RegisteredMemory;
import trigon.transport.request.Requests;
import trigon.verbs.QueuePair;
import trigon.verbs.SendFlag;
import trigon.verbs.WorkCompletions;

/**
 * The sending end with {@link MessageProtocol#EAGER}, of a session that has one path and no other: a message is a SEND
 * whose immediate is NCCL's tag. It is done when its memory may be used again.
 */
final class EagerOnceSender implements SendProtocol {

    private final Requests requests;
    private final QueuePair queuePair;
    private final PathCounters counters;
    private long nextSequence;
    private @Nullable ProtocolFailure failure;

    EagerOnceSender(PathChannel path, Requests requests) {
        this.requests = requests;
        queuePair = path.queuePair();
        counters = path.counters();
    }

    @Override
    public long isend(long address, int size, int tag, @Nullable RegisteredMemory memory) {
        long sequence = nextSequence;
        if (!requests.isFree(Requests.slot(sequence))) {
            return NO_ROOM;
        }
        int localKey = memory == null ? 0 : memory.localKey();
        int errno = queuePair.postSendWithImmediate(
                sequence, address, size, localKey, tag, SendFlag.SIGNALED | SendFlag.INJECT_COMPLETE);
        if (errno != 0) {
            failure = new ProtocolFailure.Refused(0, "ibv_post_send", errno);
            return FAILED;
        }
        nextSequence = sequence + 1;
        counters.message(size);
        return requests.begin(sequence, size);
    }

    @Override
    public boolean succeeded(int path, WorkCompletions completions, int index) {
        int slot = Requests.slot(completions.workRequestId(index));
        requests.complete(slot, requests.size(slot));
        return true;
    }

    @Override
    public @Nullable ProtocolFailure failure() {
        return failure;
    }

    /** A software device is polled by Java. */
    @Override
    public int takes() {
        return 0;
    }

    @Override
    public void settle() {}

    /** There is no wait: the receiver's device holds messages back. */
    @Override
    public void letLibraryWait() {}
}
