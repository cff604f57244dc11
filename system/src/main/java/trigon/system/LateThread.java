package trigon.system;

import org.jspecify.annotations.Nullable;

/** A daemon thread that is made when it is first needed, and at most once. Any thread. */
public final class LateThread {

    private final String name;
    private final Runnable task;
    private @Nullable Thread thread; // guarded by this
    private boolean ended; // guarded by this

    /**
     * One that is not needed yet.
     *
     * @param name as thread dumps have it
     * @param task what it does
     */
    public LateThread(String name, Runnable task) {
        this.name = name;
        this.task = task;
    }

    /**
     * It is needed: makes it, unless it is there or is to be made no more.
     *
     * @throws OutOfMemoryError if the process may have no more threads; the next call tries again
     */
    public synchronized void start() {
        if (thread == null && !ended) {
            Thread starting = new Thread(task, name);
            starting.setDaemon(true);
            starting.start();
            thread = starting;
        }
    }

    /**
     * It is made no more. Where it was made, and has been told to end, waits until it has.
     *
     * @param millis not longer than this
     * @return whether it was made
     */
    public boolean end(long millis) {
        Thread running;
        synchronized (this) {
            ended = true;
            running = thread;
        }
        if (running != null) {
            try {
                running.join(millis);
            } catch (InterruptedException _) {
                Thread.currentThread().interrupt();
            }
        }
        return running != null;
    }
}
