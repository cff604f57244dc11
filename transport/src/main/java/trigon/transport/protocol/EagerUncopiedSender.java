package trigon.transport.protocol;

import java.util.List;
import org.jspecify.annotations.Nullable;
import trigon.transport.metrics.PathCounters;
import trigon.transport.path.PathChannel;
import trigon.transport.path.RegisteredMemory;
import trigon.transport.request.Requests;
import trigon.verbs.QueuePair;
import trigon.verbs.SendFlag;
import trigon.verbs.WorkCompletions;

/**
 * The sending end with {@link MessageProtocol#EAGER} that keeps no copies: a message is a SEND from NCCL's memory.
 *
 * <p>Of a session that ends with its path, a message is done when its memory may be used again. Of one that goes by
 * {@link MessageProtocol#RENDEZVOUS} where it can, when the peer has it: so what the peer does not have is open here,
 * in memory that NCCL has not got back, and either protocol can go on with it.
 */
final class EagerUncopiedSender implements SendProtocol, ResumableProtocol {

    private final Requests requests;
    private final OpenMessages open;
    private final int flags;
    private QueuePair queuePair;
    private PathCounters counters;
    private long nextSequence;

    /** Messages whose requests are done. */
    private long finished;

    /** Messages that the peer had when the path was taken. */
    private long confirmedBefore;

    /** The message that is to be sent again next; {@link #nextSequence} if none is. */
    private long repeated;

    /** New messages are refused. */
    private boolean held;

    private @Nullable ProtocolFailure failure;

    private EagerUncopiedSender(PathChannel path, Requests requests, OpenMessages.Handover from, int doneWhen) {
        this.requests = requests;
        open = from.open();
        nextSequence = from.begun();
        finished = from.complete();
        confirmedBefore = finished;
        repeated = nextSequence;
        queuePair = path.queuePair();
        counters = path.counters();
        flags = SendFlag.SIGNALED | doneWhen;
    }

    /** Of a session that has one path and no other. */
    static EagerUncopiedSender once(PathChannel path, Requests requests) {
        return new EagerUncopiedSender(path, requests, OpenMessages.Handover.atFirst(), SendFlag.INJECT_COMPLETE);
    }

    /** Of a session that has gone by another protocol so far. */
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

    private long refused(int errno) {
        failure = new ProtocolFailure.Refused(0, "ibv_post_send", errno);
        return FAILED;
    }

    @Override
    public boolean succeeded(int path, WorkCompletions completions, int index) {
        finishBelow(completions.workRequestId(index) + 1);
        return true;
    }

    private void finishBelow(long end) {
        while (finished < end) {
            int slot = Requests.slot(finished++);
            requests.complete(slot, requests.size(slot));
        }
    }

    // ---- another path

    @Override
    public MessageProtocol kind() {
        return MessageProtocol.EAGER;
    }

    @Override
    public ResumableProtocol as(MessageProtocol next, List<PathChannel> paths) {
        return next == MessageProtocol.EAGER
                ? this
                : new RendezvousSender(paths, requests, new OpenMessages.Handover(open, nextSequence, finished));
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
    public void holdBack(boolean on) {
        held = on;
    }

    @Override
    public long unconfirmedBytes() {
        return requests.bytes(finished, nextSequence);
    }

    @Override
    public void moveTo(List<PathChannel> paths, long received) {
        if (paths.size() != 1 || received < finished || received > nextSequence) {
            throw new IllegalArgumentException("%d paths, and %d messages received of %d to %d"
                    .formatted(paths.size(), received, finished, nextSequence));
        }
        queuePair = paths.getFirst().queuePair();
        counters = paths.getFirst().counters();
        finishBelow(received);
        confirmedBefore = received;
        repeated = received;
        held = false;
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
