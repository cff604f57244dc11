package trigon.transport.protocol;

import java.util.List;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;
import trigon.transport.path.PathChannel;
import trigon.transport.path.RegisteredMemory;
import trigon.transport.request.Requests;
import trigon.verbs.SendFlag;

/**
 * The sending end with {@link MessageProtocol#EAGER} that keeps no copies: a message is a SEND from NCCL's memory.
 *
 * <p>Of a session that ends with its path, a message is done when its memory may be used again. Of one that goes by
 * {@link MessageProtocol#RENDEZVOUS} where it can, when the peer has it: so what the peer does not have is open here,
 * in memory that NCCL has not got back, and either protocol can go on with it.
 */
final class EagerUncopiedSender extends EagerSendingEnd {

    private final OpenMessages open;
    private final int flags;
    private long nextSequence;

    private EagerUncopiedSender(PathChannel path, Requests requests, OpenMessages.Handover from, int doneWhen) {
        super(path, requests);
        open = from.open();
        nextSequence = from.begun();
        finished = from.complete();
        confirmedBefore = finished;
        repeated = nextSequence;
        flags = SendFlag.SIGNALED | doneWhen;
    }

    /** Makes the end of a session that has one path and no other. */
    static EagerUncopiedSender once(PathChannel path, Requests requests) {
        return new EagerUncopiedSender(path, requests, OpenMessages.Handover.atFirst(), SendFlag.INJECT_COMPLETE);
    }

    /** Makes the end of a session that has gone by another protocol so far. */
    static EagerUncopiedSender following(PathChannel path, Requests requests, OpenMessages.Handover from) {
        return new EagerUncopiedSender(path, requests, from, SendFlag.DELIVERY_COMPLETE);
    }

    @Override
    public long isend(long address, int size, int tag, @Nullable RegisteredMemory memory) {
        long sequence = nextSequence;
        if (repeated < sequence || held || !requests.isFree(Requests.slot(sequence))) {
            return NO_ROOM;
        }
        open.add(sequence, address, tag, memory);
        int errno = post(sequence, size);
        if (errno != 0) {
            return refused(errno);
        }
        nextSequence = sequence + 1;
        repeated = nextSequence;
        counters.message(size);
        return requests.begin(sequence, size);
    }

    private int post(long sequence, int size) {
        RegisteredMemory memory = open.memory(sequence);
        int localKey = memory == null ? 0 : memory.localKey();
        return queuePair.postSendWithImmediate(
                sequence, open.address(sequence), size, localKey, open.tag(sequence), flags);
    }

    // ---- another path

    @Override
    public Protocol as(
            MessageProtocol next, List<PathChannel> paths, LongFunction<@Nullable RegisteredMemory> memories) {
        return next == MessageProtocol.EAGER
                ? this
                : SendProtocol.rendezvous(paths, requests, new OpenMessages.Handover(open, nextSequence, finished));
    }

    @Override
    public long begun() {
        return nextSequence;
    }

    @Override
    public long confirmed() {
        return Math.max(finished, confirmedBefore + queuePair.delivered());
    }

    @Override
    public long unconfirmedBytes() {
        return requests.bytes(finished, nextSequence);
    }

    @Override
    public void moveTo(List<PathChannel> paths, long received) {
        take(paths, received, finished);
    }

    /** The send queue has room for all requests. */
    @Override
    public int repeat() {
        for (; repeated < nextSequence; repeated++) {
            int errno = post(repeated, requests.size(Requests.slot(repeated)));
            if (errno != 0) {
                return (int) refused(errno);
            }
        }
        return 0;
    }
}
