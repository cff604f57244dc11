package trigon.system.kernel;

import trigon.system.NativeFunction;

/**
 * A memory barrier that one thread makes all threads of the process pass. So those that run often need none of their
 * own where they write one word and read another: only the compiler must keep the order. Thread-safe.
 *
 * @see <a href="https://man7.org/linux/man-pages/man2/membarrier.2.html">membarrier(2)</a>
 */
public final class ProcessBarrier {

    /** The system call's number, by the processor; there is no function for it in the C library. */
    private static final long NUMBER = System.getProperty("os.arch").equals("aarch64") ? 283 : 324;

    /** MEMBARRIER_CMD_PRIVATE_EXPEDITED and MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED of linux/membarrier.h. */
    private static final int PRIVATE_EXPEDITED = 1 << 3;

    private static final int REGISTER_PRIVATE_EXPEDITED = 1 << 4;

    private static final NativeFunction SYSCALL = NativeFunction.of("syscall");

    private static final boolean AVAILABLE = call(REGISTER_PRIVATE_EXPEDITED) == 0 && call(PRIVATE_EXPEDITED) == 0;

    private ProcessBarrier() {}

    /** Returns whether the kernel has it: a container's rules may forbid it. */
    public static boolean isAvailable() {
        return AVAILABLE;
    }

    /**
     * All threads pass a barrier before this returns.
     *
     * @throws IllegalStateException if it is not available
     */
    public static void pass() {
        if (!AVAILABLE || call(PRIVATE_EXPEDITED) != 0) {
            throw new IllegalStateException("the kernel has no barrier for all threads of a process (membarrier)");
        }
    }

    private static long call(int command) {
        return SYSCALL.call(NUMBER, command);
    }
}
