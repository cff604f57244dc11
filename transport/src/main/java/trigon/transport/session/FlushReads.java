package trigon.transport.session;

import java.time.Duration;
import java.util.OptionalLong;

/**
 * The flushes that a device is to READ for, and whether it can: its part of a {@link Flushes}, without the device. What
 * a queue pair has not read when it fails is left to the next one.
 *
 * <p>One thread at a time. Times are given to it.
 */
final class FlushReads {

    /** None of the slots. */
    static final int NO_SLOT = -1;

    /** What has become of the queue pair. */
    enum State {
        /** READs can be posted. */
        READY,
        /** It has failed, and nobody makes another one. */
        BROKEN,
        /** Another one is being made. */
        REPAIRING,
        /** It has been of no use for too long: the session is over. */
        FAILED
    }

    /** What the device has to do with the session. */
    private enum Use {
        CARRIES,
        /** It does not any more, but what it has carried may still be on its way to the GPU. */
        HAS_CARRIED,
        NONE
    }

    private final long patienceNanos;
    private State state = State.READY;
    private Use use = Use.CARRIES;

    /** The first flush since it has ceased to carry. */
    private long firstWithout;

    // by slot: those to be READ for, and those of them whose READ is posted
    private int owed;
    private int posted;

    private long latest = -1;

    // what is owed when a repair begins, and the latest flush by then
    private int owedAtRepair;
    private long latestAtRepair;

    private long repairSince;

    /** The first failure since flushes wait, and since the last success. */
    private OptionalLong troubleSince = OptionalLong.empty();

    /**
     * Of a queue pair that is ready.
     *
     * @param patience so long it may fail again and again, and so long a repair may take
     */
    FlushReads(Duration patience) {
        patienceNanos = patience.toNanos();
    }

    State state() {
        return state;
    }

    /** Whether data come over the device from now on, up to the flush with that number. */
    void carry(boolean does, long next) {
        if (does) {
            use = Use.CARRIES;
        } else if (use == Use.CARRIES) {
            use = Use.HAS_CARRIED;
            firstWithout = next;
        }
    }

    /** Whether a flush has to be READ for here. */
    boolean isNeeded() {
        return use != Use.NONE;
    }

    /** A flush is to be READ for, by its number. */
    void add(long number) {
        if (owed == 0) {
            troubleSince = OptionalLong.empty();
        }
        owed |= bit(slot(number));
        latest = number;
    }

    /** Whether the flush in a slot is still to be READ for. */
    boolean owes(int slot) {
        return (owed & bit(slot)) != 0;
    }

    /** A slot whose READ can be posted, or {@link #NO_SLOT}. */
    int nextToPost() {
        int open = owed & ~posted;
        return state == State.READY && open != 0 ? Integer.numberOfTrailingZeros(open) : NO_SLOT;
    }

    /** The READ for the flush in a slot is outstanding from now on. */
    void markPosted(int slot) {
        posted |= bit(slot);
    }

    /** Whether a READ is outstanding. */
    boolean isReading() {
        return posted != 0;
    }

    /** Whether flushes wait for another queue pair. */
    boolean isWaiting() {
        return owed != 0 && (state == State.BROKEN || state == State.REPAIRING);
    }

    /** Whether nothing has been read since the queue pair failed. */
    boolean isInTrouble() {
        return troubleSince.isPresent();
    }

    /** The READ for a flush has succeeded. */
    void succeed(long number) {
        owed &= ~bit(slot(number));
        posted &= ~bit(slot(number));
        passed(number);
    }

    /** What the device wrote before that flush is there. */
    private void passed(long number) {
        troubleSince = OptionalLong.empty();
        if (use == Use.HAS_CARRIED && number >= firstWithout) {
            use = Use.NONE;
        }
    }

    /** The queue pair has failed, or another one cannot be made. */
    void breakDown(long nanoTime) {
        if (state == State.FAILED) {
            return;
        }
        long since = troubleSince.orElse(nanoTime);
        troubleSince = OptionalLong.of(since);
        posted = 0;
        state = nanoTime - since > patienceNanos ? State.FAILED : State.BROKEN;
    }

    /** Whether another queue pair is to be made now, for flushes that wait; then somebody is about to. */
    boolean beginRepair(long nanoTime) {
        if (state != State.BROKEN || owed == 0) {
            return false;
        }
        state = State.REPAIRING;
        repairSince = nanoTime;
        owedAtRepair = owed;
        latestAtRepair = latest;
        return true;
    }

    /** Whether the repair that is under way has taken too long; then that is the end. */
    boolean failLateRepair(long nanoTime) {
        boolean isLate = state == State.REPAIRING && nanoTime - repairSince > patienceNanos;
        if (isLate) {
            fail();
        }
        return isLate;
    }

    /** All that was owed when the repair began is there, without a READ. */
    void settle() {
        owed &= ~owedAtRepair;
        passed(latestAtRepair);
    }

    /** There is another queue pair. */
    void endRepair() {
        if (state == State.REPAIRING) {
            state = State.READY;
        }
    }

    /** No other queue pair will be made. */
    void fail() {
        state = State.FAILED;
    }

    /** Where a flush is kept, by its number. */
    static int slot(long number) {
        return (int) number & (Flushes.MAX - 1);
    }

    private static int bit(int slot) {
        return 1 << slot;
    }
}
