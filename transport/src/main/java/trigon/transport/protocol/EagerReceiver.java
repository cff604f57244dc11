package trigon.transport.protocol;

import org.jspecify.annotations.Nullable;
import trigon.transport.metrics.PathCounters;
import trigon.transport.path.PathChannel;
import trigon.transport.path.RegisteredMemory;
import trigon.transport.request.RequestRow;
import trigon.transport.request.Requests;
import trigon.verbs.QueuePair;
import trigon.verbs.WorkCompletions;

/** The receiving end with {@link MessageProtocol#EAGER}: a receive is a posted receive work request. */
final class EagerReceiver implements ReceiveProtocol {

    private final Requests requests;
    private final QueuePair queuePair;
    private final PathCounters counters;
    private final int[] tags = new int[RequestRow.REQUESTS];
    private long nextSequence;
    private @Nullable ProtocolFailure failure;

    EagerReceiver(PathChannel path, Requests requests) {
        this.requests = requests;
        queuePair = path.queuePair();
        counters = path.counters();
    }

    @Override
    public long irecv(long address, int size, int tag, @Nullable RegisteredMemory memory) {
        long sequence = nextSequence;
        int slot = Requests.slot(sequence);
        if (!requests.isFree(slot)) {
            return NO_ROOM;
        }
        int localKey = memory == null ? 0 : memory.localKey();
        int errno = queuePair.postReceive(sequence, address, size, localKey);
        if (errno != 0) {
            failure = new ProtocolFailure.Refused(0, "ibv_post_recv", errno);
            return FAILED;
        }
        tags[slot] = tag;
        nextSequence = sequence + 1;
        return requests.begin(sequence, size);
    }

    @Override
    public boolean succeeded(int path, WorkCompletions completions, int index) {
        long sequence = completions.workRequestId(index);
        int slot = Requests.slot(sequence);
        int tag = completions.immediate(index);
        int size = completions.byteLength(index);
        if (tag != tags[slot]) {
            failure = new ProtocolFailure.Mismatch(sequence, size, tag, requests.size(slot), tags[slot]);
            return false;
        }
        requests.complete(slot, size);
        counters.message(size);
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
}
