package trigon.transport.protocol;

import java.util.List;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;
import trigon.transport.path.PathChannel;
import trigon.transport.path.RegisteredMemory;
import trigon.transport.request.Requests;
import trigon.verbs.WorkCompletions;

/**
 * The sending end with {@link MessageProtocol#RENDEZVOUS} over one path whose device C can reach: the {@link Lane}
 * moves the messages. The ring of a path that is taken is zeroed: old entries have valid numbers, and keys of memory
 * that is gone.
 */
final class LaneSender implements SendProtocol {

    private final Requests requests;
    private final LaneEnd end;
    private final Lane lane;

    /** New messages are refused. */
    private boolean held;

    LaneSender(PathChannel path, Lane lane, Requests requests, OpenMessages.Handover from) {
        this.requests = requests;
        this.lane = lane;
        end = new LaneEnd(lane, from);
        use(path, from.begun());
    }

    private void use(PathChannel path, long from) {
        end.moveTo(path, path.sendQueueDepth(), from);
    }

    @Override
    public long isend(long address, int size, int tag, @Nullable RegisteredMemory memory) {
        if (held || end.isRepeating()) {
            return NO_ROOM;
        }
        long request = end.begin(address, size, tag, memory == null ? 0 : memory.localKey(), memory);
        if (request == FAILED) {
            noteFailure(lane.begun(), size, tag);
        }
        return request;
    }

    private void noteFailure(long sequence, int size, int tag) {
        end.fail(lane.whyNotSent(sequence, size, tag));
    }

    @Override
    public boolean succeeded(int path, WorkCompletions completions, int index) {
        return end.succeeded(completions, index);
    }

    @Override
    public boolean isReadyForLibrary() {
        return !held && !end.isRepeating();
    }

    // ---- another path

    @Override
    public MessageProtocol kind() {
        return MessageProtocol.RENDEZVOUS;
    }

    @Override
    public Protocol as(
            MessageProtocol next, List<PathChannel> over, LongFunction<@Nullable RegisteredMemory> memories) {
        if (next == MessageProtocol.RENDEZVOUS && Lane.fits(over)) {
            return this;
        }
        OpenMessages.Handover handover = end.handover(memories);
        return next == MessageProtocol.RENDEZVOUS
                ? new RendezvousSender(over, requests, handover)
                : EagerUncopiedSender.following(over.getFirst(), requests, handover);
    }

    @Override
    public long begun() {
        return lane.begun();
    }

    @Override
    public long confirmed() {
        return lane.complete();
    }

    @Override
    public void holdBack(boolean on) {
        held = on;
    }

    @Override
    public long unconfirmedBytes() {
        return requests.bytes(lane.complete(), lane.begun());
    }

    @Override
    public void moveTo(List<PathChannel> next, long received) {
        if (next.size() != 1 || received < lane.complete() || received > lane.begun()) {
            throw new IllegalArgumentException("%d paths instead of 1, and %d messages received of %d to %d"
                    .formatted(next.size(), received, lane.complete(), lane.begun()));
        }
        while (lane.complete() < received) {
            lane.completeOldest();
        }
        use(next.getFirst(), received);
        held = false;
    }

    @Override
    public int repeat() {
        int left = end.repeat();
        if (left == (int) FAILED) {
            long failed = end.repeated();
            noteFailure(failed, requests.size(Requests.slot(failed)), lane.tag(failed));
        }
        return left;
    }

    @Override
    public @Nullable ProtocolFailure failure() {
        return end.failure();
    }
}
