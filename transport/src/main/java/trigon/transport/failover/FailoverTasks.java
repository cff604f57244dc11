package trigon.transport.failover;

import java.util.concurrent.Executor;
import java.util.function.Consumer;

/**
 * Where the work of failovers is done: what is brief on an event loop, which has its thread, and what may block on
 * control threads, which may have to be made, and cannot be where a limit on processes is reached. Thread-safe.
 */
final class FailoverTasks {

    private final Executor eventLoop;
    private final Executor control;
    private final Executor aMomentLater;

    /**
     * By these.
     *
     * @param eventLoop runs what is brief; makes no thread for it
     * @param control runs what may block
     * @param aMomentLater the same, a {@link Failovers#MOMENT} later
     */
    FailoverTasks(Executor eventLoop, Executor control, Executor aMomentLater) {
        this.eventLoop = eventLoop;
        this.control = control;
        this.aMomentLater = aMomentLater;
    }

    /**
     * Has the event loop do something brief, for the data path: no thread is made, and nothing is thrown.
     *
     * @return false if it will not be done
     */
    boolean fromDataPath(Runnable brief) {
        try {
            eventLoop.execute(brief);
            return true;
        } catch (RuntimeException | Error _) { // the plugin is closed, or there is no memory: the session says so
            return false;
        }
    }

    /**
     * Has a control thread do something that may block. Not from the data path.
     *
     * @param impossible hears why it will not be done
     */
    void begin(Runnable step, Consumer<Throwable> impossible) {
        try {
            control.execute(step);
        } catch (RuntimeException | Error e) {
            impossible.accept(e);
        }
    }

    /** Runs what may block, as it can. */
    Executor control() {
        return control;
    }

    /** Runs what may block, a moment later. */
    Executor aMomentLater() {
        return aMomentLater;
    }
}
