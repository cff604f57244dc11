package trigon.transport.protocol;

import java.util.List;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;
import trigon.transport.path.PathChannel;
import trigon.transport.path.RegisteredMemory;
import trigon.transport.request.Requests;
import trigon.transport.request.UnconfirmedMessages;
import trigon.verbs.SendFlag;
import trigon.verbs.WorkCompletions;

/**
 * The sending end over one path whose device C can reach: the {@link Lane} moves the messages.
 *
 * <p>By {@link MessageProtocol#RENDEZVOUS}, the ring of a path that is taken is zeroed: old entries have valid numbers,
 * and keys of memory that is gone.
 *
 * <p>By {@link MessageProtocol#EAGER}, a message is a SEND whose immediate is NCCL's tag. Of a session that ends with
 * its path, it is done when its memory may be used again. Else what the peer has not confirmed can be sent again: a
 * short one is copied, at once or when the peer takes long, and done when the socket has it and it is copied or
 * confirmed; a longer one is done when the peer has it. A session that goes by RENDEZVOUS where it can copies none, so
 * that either protocol can go on with what is open.
 */
final class LaneSender implements SendProtocol {

    private final MessageProtocol kind;
    private final Requests requests;
    private final LaneEnd end;
    private final Lane lane;
    private final @Nullable UnconfirmedMessages unconfirmed;
    private final int doneWhen;

    /** New messages are refused. */
    private boolean held;

    private LaneSender(LaneSender like, MessageProtocol kind) {
        this.kind = kind;
        requests = like.requests;
        end = like.end;
        lane = like.lane;
        unconfirmed = like.unconfirmed;
        doneWhen = like.doneWhen;
    }

    /**
     * Makes the end that goes on with messages over a path; with none of them under way, it has gone on.
     *
     * @param unconfirmed what short messages are copied into, with {@link MessageProtocol#EAGER}; null: none is
     * @param doneWhen the flag by which messages are done then
     */
    LaneSender(
            MessageProtocol kind,
            PathChannel path,
            Requests requests,
            OpenMessages.Handover from,
            @Nullable UnconfirmedMessages unconfirmed,
            int doneWhen) {
        this.kind = kind;
        this.requests = requests;
        this.unconfirmed = unconfirmed;
        this.doneWhen = doneWhen;
        lane = new Lane(requests, true, unconfirmed, from.begun(), from.complete());
        end = new LaneEnd(lane, from);
        use(path, from.begun());
    }

    /** Makes the end of a session that has just begun. */
    static LaneSender eager(PathChannel path, Requests requests, boolean resumable) {
        return new LaneSender(
                MessageProtocol.EAGER,
                path,
                requests,
                OpenMessages.Handover.atFirst(),
                resumable ? new UnconfirmedMessages(path.link().protectionDomain()) : null,
                SendFlag.INJECT_COMPLETE);
    }

    /** Makes the end of a session that goes on by that protocol, over a path, with what is in NCCL's memory. */
    static LaneSender following(MessageProtocol kind, PathChannel path, Requests requests, OpenMessages.Handover from) {
        return new LaneSender(kind, path, requests, from, null, SendFlag.DELIVERY_COMPLETE);
    }

    private void use(PathChannel path, long from) {
        end.moveTo(path, path.sendQueueDepth(), from);
        if (kind == MessageProtocol.EAGER) {
            lane.goEagerly(doneWhen);
        } else {
            lane.goByRendezvous(path);
        }
    }

    @Override
    public long isend(long address, int size, int tag, @Nullable RegisteredMemory memory) {
        if (end.isRepeating() || (held && !mayAsk())) {
            return NO_ROOM;
        }
        int key = memory == null ? 0 : memory.localKey();
        long request = end.begin(address, size, tag, key, memory);
        if (request == FAILED) {
            noteFailure(lane.begun(), size, tag);
        }
        return request;
    }

    /** One more message may ask the peer what it has, while there are others that it is not known to have. */
    private boolean mayAsk() {
        return unconfirmed != null && !unconfirmed.hasAsked() && unconfirmed.oldest() != lane.begun();
    }

    private void noteFailure(long sequence, int size, int tag) {
        end.fail(lane.whyNotSent(sequence, size, tag));
    }

    @Override
    public boolean succeeded(int path, WorkCompletions completions, int index) {
        return end.succeeded(completions, index);
    }

    @Override
    public void settle() {
        lane.settle();
    }

    @Override
    public boolean isReadyForLibrary() {
        return !held && !end.isRepeating();
    }

    // ---- another path

    @Override
    public MessageProtocol kind() {
        return kind;
    }

    /** Copies are not in NCCL's memory any more, so nothing but a SEND can send them again. */
    @Override
    public Protocol as(
            MessageProtocol next, List<PathChannel> over, LongFunction<@Nullable RegisteredMemory> memories) {
        if (unconfirmed != null && next != MessageProtocol.EAGER) {
            throw new IllegalArgumentException("its messages do not go by " + next);
        }
        if (next == MessageProtocol.EAGER || Lane.fits(over)) {
            return next == kind ? this : new LaneSender(this, next);
        }
        return new RendezvousSender(over, requests, end.handover(memories));
    }

    @Override
    public long begun() {
        return lane.begun();
    }

    @Override
    public long confirmed() {
        return lane.confirmed();
    }

    @Override
    public long finished() {
        return lane.complete();
    }

    @Override
    public void holdBack(boolean on) {
        held = on;
        if (on && unconfirmed != null) {
            unconfirmed.askWithNext();
        }
    }

    @Override
    public long unconfirmedBytes() {
        return unconfirmed == null ? requests.bytes(lane.complete(), lane.begun()) : unconfirmed.bytes(lane.begun());
    }

    @Override
    public void moveTo(List<PathChannel> next, long received) {
        long oldest = unconfirmed == null ? lane.complete() : unconfirmed.oldest();
        if (next.size() != 1 || received < oldest || received > lane.begun()) {
            throw new IllegalArgumentException("%d paths instead of 1, and %d messages received of %d to %d"
                    .formatted(next.size(), received, oldest, lane.begun()));
        }
        if (unconfirmed != null) {
            unconfirmed.moveTo(next.getFirst().link().protectionDomain());
        }
        while (lane.complete() < received) {
            requests.completeNext(lane.size(lane.complete()));
        }
        use(next.getFirst(), received);
        lane.confirmed(); // those that the peer has are not kept any longer
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

    /** After the path's queue pair. */
    @Override
    public void close() {
        if (unconfirmed != null) {
            unconfirmed.close();
        }
    }
}
