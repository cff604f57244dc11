package trigon.software.lanes;

import java.util.concurrent.atomic.AtomicIntegerArray;
import trigon.software.queue.ReceiveQueue;
import trigon.software.wire.WireFormat;
import trigon.verbs.WorkCompletionStatus;

/**
 * What has arrived of the SENDs that come in pieces. Each takes one receive work request, in the order in which they
 * were posted, so a piece belongs to a slot of the receive queue: the lane workers fill in, the responder looks and
 * clears. Allocates nothing after construction.
 */
public final class IncomingPieces {

    /** The receive that a piece is for has not been posted. */
    static final long NOT_POSTED = -1;

    /** There is no such receive, and there never will be. */
    static final long TAKEN = -2;

    private final ReceiveQueue receives;
    private final int mask;
    /** What is in memory by its {@link WireFormat#weight}, for each slot; negative if the message is refused. */
    private final AtomicIntegerArray arrived;

    // written by the lane workers before they count what has arrived, each of them the same
    private final int[] opcodes;
    private final int[] psns;
    private final int[] lengths;
    private final int[] immediates;
    private final int[] statuses;

    /** The index of the receive with number 0. */
    private volatile long base;

    private volatile boolean refused;
    private volatile boolean lost;

    /** For the messages that take these receives. */
    public IncomingPieces(ReceiveQueue receives) {
        this.receives = receives;
        int slots = receives.slots();
        mask = slots - 1;
        arrived = new AtomicIntegerArray(slots);
        opcodes = new int[slots];
        psns = new int[slots];
        lengths = new int[slots];
        immediates = new int[slots];
        statuses = new int[slots];
    }

    /** Nothing has come, and the receive that is the oldest, or the next to be posted, takes the first message. */
    public void reset() {
        base = receives.head();
        refused = false;
        lost = false;
        for (int i = 0; i <= mask; i++) {
            arrived.set(i, 0);
        }
    }

    // ---- lane workers

    /** The index of the receive with that number, or {@link #NOT_POSTED}, or {@link #TAKEN}. */
    long find(int receiveNumber) {
        long oldest = receives.head();
        int ahead = receiveNumber - (int) (oldest - base);
        if (ahead < 0) {
            return TAKEN;
        }
        long index = oldest + ahead;
        return index < receives.tail() ? index : NOT_POSTED;
    }

    /** More of a message is in memory; true if that is all of it, or the message is refused. */
    boolean add(long index, int opcode, int psn, int immediate, int bytes, int messageLength) {
        describe(index, opcode, psn, immediate, messageLength);
        int weight = WireFormat.weight(bytes);
        int before = arrived.getAndAdd(slot(index), weight);
        int missing = WireFormat.weight(messageLength) - before;
        if (before < 0) {
            arrived.set(slot(index), Integer.MIN_VALUE); // however much comes, it stays refused
        } else if (weight > missing) {
            // they overlap, so what is in memory is not the message
            refuse(index, opcode, psn, WorkCompletionStatus.LOCAL_QP_OPERATION_ERROR);
        }
        return before < 0 || weight >= missing;
    }

    /** The message cannot be put where it is to go. */
    void refuse(long index, int opcode, int psn, WorkCompletionStatus status) {
        // as long as no message is: who looks meanwhile must not take the pieces that have come for all of it
        describe(index, opcode, psn, 0, Integer.MAX_VALUE);
        refused = true;
        statuses[slot(index)] = status.code();
        arrived.set(slot(index), Integer.MIN_VALUE);
    }

    /** Whether a message has been refused, so that pieces may come for which nothing waits any more. */
    boolean haveBeenRefused() {
        return refused;
    }

    /** A lane has ended at this side's instance, and what was to come on it does not come. */
    void lose() {
        lost = true;
    }

    private void describe(long index, int opcode, int psn, int immediate, int messageLength) {
        int slot = slot(index);
        opcodes[slot] = opcode;
        psns[slot] = psn;
        immediates[slot] = immediate;
        lengths[slot] = messageLength;
    }

    // ---- under the queue pair's lock

    /** Whether the message that takes that receive has come in pieces, all of it, or is refused. */
    public boolean isDone(long index) {
        int count = arrived.get(slot(index));
        // more than all of it: pieces that overlap, and whoever has added the last is about to refuse the message
        return count < 0 || (count > 0 && count == WireFormat.weight(lengths[slot(index)]));
    }

    /** Whether some that were to come do not come. */
    public boolean areLost() {
        return lost;
    }

    /** Whether it is refused. */
    public boolean isRefused(long index) {
        return arrived.get(slot(index)) < 0;
    }

    /** Why it is refused: the code of a {@link WorkCompletionStatus}. */
    public int status(long index) {
        return statuses[slot(index)];
    }

    /** Of a message that is done, as its pieces named it; as are the following. */
    public int opcode(long index) {
        return opcodes[slot(index)];
    }

    public int psn(long index) {
        return psns[slot(index)];
    }

    public int length(long index) {
        return lengths[slot(index)];
    }

    public int immediate(long index) {
        return immediates[slot(index)];
    }

    /** The message is done. */
    public void clear(long index) {
        arrived.set(slot(index), 0);
    }

    private int slot(long index) {
        return (int) index & mask;
    }
}
