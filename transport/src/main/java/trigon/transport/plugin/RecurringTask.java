package trigon.transport.plugin;

import java.util.concurrent.Executor;

/** A task that is done again and again until it is stopped, by a timer without a thread of its own. Does not block. */
final class RecurringTask {

    private final Runnable task;
    private boolean stopped;

    RecurringTask(Runnable task) {
        this.task = task;
    }

    /**
     * Begins.
     *
     * @param nextTime runs what does not block, after the time between two runs
     */
    void start(Executor nextTime) {
        nextTime.execute(() -> runAgainAndAgain(nextTime));
    }

    /** Runs it no more; waits for a run that is under way. */
    synchronized void stop() {
        stopped = true;
    }

    private synchronized void runAgainAndAgain(Executor nextTime) {
        if (!stopped) {
            try {
                task.run();
            } finally { // once in vain is no reason to stop
                start(nextTime);
            }
        }
    }
}
