package trigon.transport.protocol;

import java.util.List;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;
import trigon.transport.path.PathChannel;
import trigon.transport.path.RegisteredMemory;
import trigon.transport.request.Requests;
import trigon.verbs.WorkCompletions;

/** The receiving end; see {@link LaneSender}. */
final class LaneReceiver implements ReceiveProtocol {

    private final Requests requests;
    private final LaneEnd end;
    private final Lane lane;

    LaneReceiver(PathChannel path, Lane lane, Requests requests, OpenMessages.Handover from) {
        this.requests = requests;
        this.lane = lane;
        end = new LaneEnd(lane, from);
        end.moveTo(path, MessageProtocol.ENTRY_WRITES, from.begun());
    }

    @Override
    public long irecv(long address, int size, int tag, @Nullable RegisteredMemory memory) {
        if (end.isRepeating()) {
            return NO_ROOM;
        }
        long request = end.begin(address, size, tag, memory == null ? 0 : memory.remoteKey(), memory);
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
                ? new RendezvousReceiver(over, requests, handover)
                : new EagerReceiver(over.getFirst(), requests, handover);
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
        end.moveTo(next.getFirst(), MessageProtocol.ENTRY_WRITES, received);
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
