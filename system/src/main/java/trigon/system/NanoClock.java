package trigon.system;

/**
 * The time that code measures intervals with. Any thread.
 *
 * <p>For the control path. The data path reads {@link System#nanoTime} itself, which the compiler replaces by the
 * processor's own counter.
 */
@FunctionalInterface
public interface NanoClock {

    /** {@code CLOCK_MONOTONIC} of this machine. */
    NanoClock SYSTEM = System::nanoTime;

    /** Nanoseconds since a moment of no meaning, as {@link System#nanoTime}: compare differences only. */
    long nanoTime();
}
