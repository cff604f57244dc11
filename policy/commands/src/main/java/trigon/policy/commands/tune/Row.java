package trigon.policy.commands.tune;

import trigon.policy.commands.tune.Sample.Asked;

/**
 * A choice that is faster than the usual one.
 *
 * @param usual what NCCL and Trigon choose without the table
 * @param usualNanos median with that
 * @param nanos median with the choice
 * @param times that the median with the choice is of
 */
record Row(Asked what, Choice choice, Choice usual, long usualNanos, long nanos, int times) {

    /** Share of the time that is gained, in percent. */
    double gain() {
        return 100.0 * (usualNanos - nanos) / usualNanos;
    }

    /** Tells whether it gains so many percent. */
    boolean gains(int percent) {
        return 100 * nanos <= (100 - percent) * usualNanos;
    }
}
