package trigon.transport;

import java.util.List;
import org.jspecify.annotations.Nullable;
import trigon.verbs.WorkCompletions;

/** The receiving end with {@link MessageProtocol#EAGER}: a receive is a posted receive work request. */
final class EagerReceiveComm extends ReceiveComm {

    private final int[] tags = new int[RequestRing.SLOTS];
    private long nextSequence;

    EagerReceiveComm(Connection connection) {
        super(List.of(connection));
    }

    @Override
    long irecv(long address, int size, int tag, @Nullable RegisteredMemory memory) {
        if (failure != 0) {
            return failure;
        }
        if (lost) {
            return failPeerGone();
        }
        long sequence = nextSequence;
        int slot = RequestRing.slot(sequence);
        if (!RequestRing.isFree(row, slot)) {
            progress();
            return failure != 0 ? failure : NetPlugin.TRY_AGAIN;
        }
        int localKey = memory == null ? 0 : memory.localKey();
        int errno = queuePair.postReceive(sequence, address, size, localKey);
        if (errno != 0) {
            return failPosting(connection, "ibv_post_recv", errno);
        }
        long request = begin(sequence, size);
        tags[slot] = tag;
        nextSequence = sequence + 1;
        return request;
    }

    @Override
    void onSuccess(WorkCompletions completions, int index) {
        int slot = RequestRing.slot(completions.workRequestId(index));
        int tag = completions.immediate(index);
        int size = completions.byteLength(index);
        if (tag != tags[slot]) {
            failMismatch(completions.workRequestId(index), size, tag, RequestRing.size(row, slot), tags[slot]);
            return;
        }
        RequestRing.complete(row, slot, size);
        messages++;
        bytes += size;
    }
}
