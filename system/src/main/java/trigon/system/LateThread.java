package trigon.system;

import org.jspecify.annotations.Nullable;

/** A daemon thread that starts when it is first needed, and at most once. Any thread. */
public final class LateThread {

    private final String name;
    private final Runnable task;
    private @Nullable Thread thread; // guarded by this
    private boolean ended; // guarded by this

    /**
     * A thread that has not started yet.
     *
     * @param name its name in thread dumps
     * @param task what it does
     */
    public LateThread(String name, Runnable task) {
        this.name = name;
        this.task = task;
    }

    /**
     * Starts it, unless it has started or was stopped.
     *
     * @throws OutOfMemoryError if the process cannot have more threads; the next call tries again
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
     * Prevents a start. If it has started and was told to end, waits for its end.
     *
     * @param millis the longest wait
     * @return whether it had started
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
