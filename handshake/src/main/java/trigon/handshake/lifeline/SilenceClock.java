package trigon.handshake.lifeline;

import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** The time for which nothing was heard over a lifeline. Written on the event loop, read anywhere. */
final class SilenceClock {

    /** From one sign of life to the next. */
    static final long BEAT_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** So long a peer may say nothing before it is thought of: a beat, and what a busy machine delays the next. */
    private static final long QUIET_NANOS = BEAT_NANOS * 3 / 2;

    /** Signs of life in succession of a peer that hurries that have to be missing. */
    private static final int MISSING = 3;

    private volatile long nanos;

    /** Looks since the last sign of life. */
    private volatile int looks;

    private long lastHeard;

    /** When there was last no silence: with the last sign of life, or the first lifeline. */
    private long since;

    /** Length of the silence when the peer's kernel was last known to answer; the event loop's. */
    private long answered;

    /** The peer says more often than once a beat that it lives. */
    private volatile boolean hurries;

    private volatile Runnable onQuiet = () -> {};

    /** The silence of a lifeline that begins now: the first sign of life does not come soon after another one. */
    SilenceClock(long now) {
        begin(now);
    }

    /** It begins now: a handshake that has taken long is no silence, though a look may count what was before. */
    void begin(long now) {
        lastHeard = now - BEAT_NANOS;
        since = now;
        nanos = 0;
        answered = 0;
        looks = 0;
        hurries = false;
    }

    /**
     * It lasts so much longer, but for what was before the last sign of life: a look that is late must not count what
     * was heard meanwhile, nor what was heard after the moment that it is about.
     *
     * @return how long it lasts
     */
    long advance(long more, long now) {
        long longer = nanos + Math.clamp(now - since, 0, more);
        int before = looks;
        nanos = longer;
        looks = before + 1;
        return longer;
    }

    /**
     * Once it has lasted for so long, as of the last look: asks whether the peer's kernel answers, and again after as
     * long. True if it does not.
     *
     * @param limit in nanoseconds
     */
    boolean outlast(long limit, BooleanSupplier kernelAnswers) {
        if (nanos - answered <= limit) {
            return false;
        }
        answered = kernelAnswers.getAsBoolean() ? nanos : answered;
        return nanos != answered;
    }

    /** Its nanoseconds, as of the last look. */
    long nanos() {
        return nanos;
    }

    /** A sign of life has come. Returns when the one before did. */
    long recordHeard(long now) {
        long before = lastHeard;
        nanos = 0;
        answered = 0;
        looks = 0;
        hurries = now - before < BEAT_NANOS / 2;
        lastHeard = now;
        since = now;
        return before;
    }

    /** Returns whether the peer says more often than once a beat that it lives. */
    boolean peerHurries() {
        return hurries;
    }

    /** Has something run whenever it lasts for too long. */
    void onQuiet(Runnable step) {
        onQuiet = step;
    }

    void tellIfQuiet() {
        if (isQuiet()) {
            onQuiet.run();
        }
    }

    /** Returns whether it lasts for longer than a peer that lives is silent. */
    boolean isQuiet() {
        return nanos > QUIET_NANOS || hasMissed(MISSING, Lifelines.HURRIED_NANOS);
    }

    /**
     * True if a peer that hurries has missed so many signs of life. It answers those of this side, so none is missed
     * while this side does not say them: before each look it says one.
     *
     * @param interval between two of them
     */
    boolean hasMissed(int count, long interval) {
        return hurries && looks > count && nanos > count * interval;
    }
}
