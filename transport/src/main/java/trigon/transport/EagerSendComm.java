package trigon.transport;

import java.util.List;
import org.jspecify.annotations.Nullable;
import trigon.verbs.SendFlag;
import trigon.verbs.WorkCompletions;

/**
 * The sending end with {@link MessageProtocol#EAGER}: a message is a SEND whose immediate is NCCL's tag. It is done when
 * its memory may be used again.
 */
final class EagerSendComm extends SendComm {

    /** Send queue entries: one for each request. */
    static final int SEND_QUEUE_DEPTH = RequestRing.SLOTS;

    private long nextSequence;

    EagerSendComm(Connection connection) {
        super(List.of(connection));
    }

    @Override
    long isend(long address, int size, int tag, @Nullable RegisteredMemory memory) {
        if (failure != 0) {
            return failure;
        }
        if (lost) {
            return failPeerGone();
        }
        long sequence = nextSequence;
        if (!RequestRing.isFree(row, RequestRing.slot(sequence))) {
            progress();
            return failure != 0 ? failure : NetPlugin.TRY_AGAIN;
        }
        int localKey = memory == null ? 0 : memory.localKey();
        int errno = queuePair.postSendWithImmediate(
                sequence, address, size, localKey, tag, SendFlag.SIGNALED | SendFlag.INJECT_COMPLETE);
        if (errno != 0) {
            return failPosting(connection, "ibv_post_send", errno);
        }
        long request = begin(sequence, size);
        nextSequence = sequence + 1;
        messages++;
        bytes += size;
        return request;
    }

    @Override
    void onSuccess(WorkCompletions completions, int index) {
        int slot = RequestRing.slot(completions.workRequestId(index));
        RequestRing.complete(row, slot, RequestRing.size(row, slot));
    }
}
