package trigon.software;

import java.time.Duration;

/**
 * How many event loop threads a provider of software devices has, and how long they look for work before they block.
 *
 * @param threads at most so many; one is started with the first device, the others with the first queue pairs
 * @param busyPoll how long a thread without work looks for some before it blocks; zero where cores are scarce
 */
public record EventLoops(int threads, Duration busyPoll) {

    /** More would hardly be used: NCCL has a handful of channels, with two queue pairs each. */
    private static final int MOST_THREADS = 4;

    private static final int CORES_PER_THREAD = 4;
    private static final int CORES_FOR_BUSY_POLLING = 4;
    private static final Duration BUSY_POLL = Duration.ofNanos(200_000);

    public EventLoops {
        if (threads < 1 || busyPoll.isNegative()) {
            throw new IllegalArgumentException(
                    "software devices need an event loop and cannot poll it for " + busyPoll + ": " + threads);
        }
    }

    /** What suits a process that may use so many cores, of which NCCL and the application need most. */
    public static EventLoops forCores(int cores) {
        int threads = Math.clamp(cores / CORES_PER_THREAD, 1, MOST_THREADS);
        return new EventLoops(threads, cores >= CORES_FOR_BUSY_POLLING ? BUSY_POLL : Duration.ZERO);
    }
}
