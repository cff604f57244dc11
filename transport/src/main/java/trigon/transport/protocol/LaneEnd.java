package trigon.transport.protocol;

import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;
import trigon.transport.path.PathChannel;
import trigon.transport.path.RegisteredMemory;
import trigon.verbs.WorkCompletions;

/**
 * Common part of both ends over one path where C moves the messages: the {@link Lane}, and the description of its
 * failure.
 */
final class LaneEnd {

    private final Lane lane;

    /** The message that is to be sent, or asked for, again next. */
    private long repeated;

    /** One past the last of these: messages begun when the path was taken. C begins others behind it. */
    private long repeatedUntil;

    private @Nullable ProtocolFailure failure;

    /** Takes over the messages of another protocol. */
    LaneEnd(Lane lane, OpenMessages.Handover from) {
        this.lane = lane;
        OpenMessages open = from.open();
        for (long sequence = from.complete(); sequence < from.begun(); sequence++) {
            RegisteredMemory memory = open.memory(sequence);
            lane.takeOver(sequence, open.address(sequence), open.tag(sequence), memory == null ? 0 : memory.handle());
        }
    }

    /** The messages for another protocol that goes on with them. */
    OpenMessages.Handover handover(LongFunction<@Nullable RegisteredMemory> memories) {
        OpenMessages open = new OpenMessages();
        for (long sequence = lane.complete(); sequence < lane.begun(); sequence++) {
            long memory = lane.memory(sequence);
            open.add(sequence, lane.address(sequence), lane.tag(sequence), memory == 0 ? null : memories.apply(memory));
        }
        return new OpenMessages.Handover(open, lane.begun(), lane.complete());
    }

    /** Goes on over a path from a message on. */
    void moveTo(PathChannel path, int room, long from) {
        lane.use(path, room, from);
        repeated = from;
        repeatedUntil = lane.begun();
    }

    boolean isRepeating() {
        return repeated < repeatedUntil;
    }

    /** Sends, or asks for, what is left again, as far as there is room. Returns how much is left, or FAILED. */
    int repeat() {
        while (isRepeating()) {
            long result = lane.repeat(repeated);
            if (result == Protocol.FAILED) {
                return (int) Protocol.FAILED;
            }
            if (result <= 0) {
                break;
            }
            repeated++;
        }
        return (int) (repeatedUntil - repeated);
    }

    boolean succeeded(WorkCompletions completions, int index) {
        boolean taken = lane.take(completions.address(index));
        if (!taken) {
            failure = whyNotTaken(completions, index);
        }
        return taken;
    }

    private ProtocolFailure whyNotTaken(WorkCompletions completions, int index) {
        long sequence = lane.complete();
        int said = completions.immediate(index);
        if (!lane.isEager()) {
            return new ProtocolFailure.Unasked(sequence, said);
        }
        int bytes = completions.byteLength(index);
        return said == lane.tag(sequence)
                ? new ProtocolFailure.Unasked(sequence, bytes)
                : new ProtocolFailure.Mismatch(sequence, bytes, said, lane.size(sequence), lane.tag(sequence));
    }

    /** Begins a message by its lane. Returns its request, or why there is none. */
    long begin(long address, int size, int tag, int key, @Nullable RegisteredMemory memory) {
        return lane.begin(address, size, tag, key, memory == null ? 0 : memory.handle());
    }

    /** The message that is to go out, or be asked for, again next. */
    long repeated() {
        return repeated;
    }

    /** Ends it for a reason that its lane does not know. */
    void fail(ProtocolFailure by) {
        failure = by;
    }

    @Nullable
    ProtocolFailure failure() {
        return failure;
    }
}
