package trigon.transport.protocol;

import java.util.List;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;
import trigon.transport.path.PathChannel;
import trigon.transport.path.RegisteredMemory;
import trigon.transport.request.Requests;
import trigon.verbs.SendFlag;
import trigon.verbs.WorkCompletions;

/** The receiving end; see {@link LaneSender}. */
final class LaneReceiver implements ReceiveProtocol {

    private final MessageProtocol kind;
    private final Requests requests;
    private final LaneEnd end;
    private final Lane lane;

    /** Makes the end that goes on with messages over a path; with none of them under way, it has gone on. */
    LaneReceiver(MessageProtocol kind, PathChannel path, Requests requests, OpenMessages.Handover from) {
        Lane made = new Lane(requests, false, null, from.begun(), from.complete());
        this(kind, made, new LaneEnd(made, from), requests);
        use(path, from.begun());
    }

    private LaneReceiver(MessageProtocol kind, Lane lane, LaneEnd end, Requests requests) {
        this.kind = kind;
        this.requests = requests;
        this.lane = lane;
        this.end = end;
    }

    private void use(PathChannel path, long from) {
        end.moveTo(path, kind == MessageProtocol.EAGER ? 0 : MessageProtocol.ENTRY_WRITES, from);
        if (kind == MessageProtocol.EAGER) {
            lane.goEagerly(SendFlag.NONE);
        } else {
            lane.goByRendezvous(path);
        }
    }

    @Override
    public long irecv(long address, int size, int tag, @Nullable RegisteredMemory memory) {
        if (end.isRepeating()) {
            return NO_ROOM;
        }
        int key = memory == null ? 0 : kind == MessageProtocol.EAGER ? memory.localKey() : memory.remoteKey();
        long request = end.begin(address, size, tag, key, memory);
        if (request == FAILED) {
            noteFailure();
        }
        return request;
    }

    private void noteFailure() {
        end.fail(new ProtocolFailure.Refused(0, "ibv_post_recv or ibv_post_send", lane.refused()));
    }

    @Override
    public boolean succeeded(int path, WorkCompletions completions, int index) {
        return end.succeeded(completions, index);
    }

    @Override
    public boolean isReadyForLibrary() {
        return !end.isRepeating();
    }

    // ---- another path

    @Override
    public MessageProtocol kind() {
        return kind;
    }

    @Override
    public Protocol as(
            MessageProtocol next, List<PathChannel> over, LongFunction<@Nullable RegisteredMemory> memories) {
        if (next == MessageProtocol.EAGER || Lane.fits(over)) {
            return next == kind ? this : new LaneReceiver(next, lane, end, requests);
        }
        return new RendezvousReceiver(over, requests, end.handover(memories));
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
    public void moveTo(List<PathChannel> next, long received) {
        if (next.size() != 1 || received != lane.complete()) {
            throw new IllegalArgumentException("%d paths instead of 1, %d messages instead of %d"
                    .formatted(next.size(), received, lane.complete()));
        }
        use(next.getFirst(), received);
    }

    @Override
    public int repeat() {
        int left = end.repeat();
        if (left == (int) FAILED) {
            noteFailure();
        }
        return left;
    }

    @Override
    public @Nullable ProtocolFailure failure() {
        return end.failure();
    }
}
