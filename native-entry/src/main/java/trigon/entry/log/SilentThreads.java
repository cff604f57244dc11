package trigon.entry.log;

/**
 * Threads whose events stay out of the log unless they concern the process: those of a warm-up, whose connections would
 * only puzzle. A thread that such a thread starts is silent too, being of the same group.
 */
public final class SilentThreads {

    private static final ThreadGroup GROUP = new ThreadGroup("trigon-silent");

    private SilentThreads() {}

    /** A daemon thread, not started. */
    public static Thread newThread(String name, Runnable task) {
        return Thread.ofPlatform()
                .group(GROUP)
                .name(name)
                .daemon()
                .inheritInheritableThreadLocals(false)
                .unstarted(task);
    }

    /** True on a thread whose lines are not logged. */
    static boolean isCurrent() {
        return GROUP.equals(Thread.currentThread().getThreadGroup());
    }
}
