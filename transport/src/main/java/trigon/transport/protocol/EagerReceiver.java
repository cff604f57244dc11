package trigon.transport.protocol;

import java.util.List;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;
import trigon.transport.metrics.PathCounters;
import trigon.transport.path.PathChannel;
import trigon.transport.path.RegisteredMemory;
import trigon.transport.request.Requests;
import trigon.verbs.QueuePair;
import trigon.verbs.WorkCompletions;

/** The receiving end with {@link MessageProtocol#EAGER}: a receive is a posted receive work request. */
final class EagerReceiver implements ReceiveProtocol {

    private final Requests requests;
    private QueuePair queuePair;
    private PathCounters counters;
    private final OpenMessages open;
    private long nextSequence;

    /** Messages that have been received. */
    private long received;

    /** The receive that is to be asked for again next; {@link #nextSequence} if none is. */
    private long repeated;

    private @Nullable ProtocolFailure failure;

    EagerReceiver(PathChannel path, Requests requests, OpenMessages.Handover from) {
        this.requests = requests;
        open = from.open();
        nextSequence = from.begun();
        received = from.complete();
        repeated = nextSequence;
        queuePair = path.queuePair();
        counters = path.counters();
    }

    @Override
    public long irecv(long address, int size, int tag, @Nullable RegisteredMemory memory) {
        long sequence = nextSequence;
        if (!requests.isFree(Requests.slot(sequence))) {
            return NO_ROOM;
        }
        int errno = post(sequence, address, size, memory);
        if (errno != 0) {
            return refused(errno);
        }
        open.add(sequence, address, tag, memory);
        nextSequence = sequence + 1;
        repeated = nextSequence;
        return requests.begin(sequence, size);
    }

    private int post(long sequence, long address, int size, @Nullable RegisteredMemory memory) {
        return queuePair.postReceive(sequence, address, size, memory == null ? 0 : memory.localKey());
    }

    private long refused(int errno) {
        failure = new ProtocolFailure.Refused(0, "ibv_post_recv", errno);
        return FAILED;
    }

    @Override
    public boolean succeeded(int path, WorkCompletions completions, int index) {
        long sequence = completions.workRequestId(index);
        int slot = Requests.slot(sequence);
        int tag = completions.immediate(index);
        int size = completions.byteLength(index);
        if (tag != open.tag(sequence)) {
            failure = new ProtocolFailure.Mismatch(sequence, size, tag, requests.size(slot), open.tag(sequence));
            return false;
        }
        requests.complete(slot, size);
        received = sequence + 1;
        counters.message(size);
        return true;
    }

    // ---- another path

    @Override
    public MessageProtocol kind() {
        return MessageProtocol.EAGER;
    }

    @Override
    public Protocol as(
            MessageProtocol next, List<PathChannel> paths, LongFunction<@Nullable RegisteredMemory> memories) {
        return next == MessageProtocol.EAGER
                ? this
                : ReceiveProtocol.rendezvous(paths, requests, new OpenMessages.Handover(open, nextSequence, received));
    }

    @Override
    public long begun() {
        return nextSequence;
    }

    @Override
    public long confirmed() {
        return received;
    }

    @Override
    public void moveTo(List<PathChannel> paths, long confirmed) {
        if (paths.size() != 1 || confirmed != received) {
            throw new IllegalArgumentException(
                    "%d paths, %d messages instead of %d".formatted(paths.size(), confirmed, received));
        }
        queuePair = paths.getFirst().queuePair();
        counters = paths.getFirst().counters();
        repeated = received;
    }

    @Override
    public int repeat() {
        for (; repeated < nextSequence; repeated++) {
            int size = requests.size(Requests.slot(repeated));
            int errno = post(repeated, open.address(repeated), size, open.memory(repeated));
            if (errno != 0) {
                return (int) refused(errno);
            }
        }
        return 0;
    }

    @Override
    public @Nullable ProtocolFailure failure() {
        return failure;
    }
}
