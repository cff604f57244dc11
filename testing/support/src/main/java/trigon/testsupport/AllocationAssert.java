package trigon.testsupport;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;

/** Asserts that code allocates nothing on the thread that runs it. */
public final class AllocationAssert {

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final int ROUNDS = 5;

    private AllocationAssert() {}

    /** Bytes that this thread has allocated so far. */
    public static long allocatedBytes() {
        return THREADS.getCurrentThreadAllocatedBytes();
    }

    /**
     * Runs the code often enough to be compiled, then asserts that further runs allocate nothing on this thread. Rounds
     * in which the JVM itself allocates now and then, for example when it compiles again, are tolerated as long as one
     * round is clean.
     *
     * @param iterations runs of one round
     */
    public static void assertZeroAllocation(Runnable code, int iterations) {
        assertAllocationAtMost(code, iterations, 0);
    }

    /**
     * The same for code that calls something of the JDK's which allocates.
     *
     * @param bytes that one run may allocate
     */
    public static void assertAllocationAtMost(Runnable code, int iterations, int bytes) {
        long limit = (long) iterations * bytes;
        long least = Long.MAX_VALUE;
        for (int round = 0; round <= ROUNDS && least > limit; round++) {
            long before = THREADS.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < iterations; i++) {
                code.run();
            }
            long allocated = THREADS.getCurrentThreadAllocatedBytes() - before;
            if (round > 0) { // the first one warms up
                least = Math.min(least, allocated);
            }
        }
        if (least > limit) {
            throw new AssertionError(
                    "allocated " + least + " bytes in the best of " + ROUNDS + " rounds of " + iterations + " runs");
        }
    }
}
