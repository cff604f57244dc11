package trigon.transport.failover;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.transport.session.Resumption;

/** Does one connection's failover step by step: each on a thread that may block, and none waits for the next one. */
final class FailoverSteps {

    private static final Logger log = LoggerFactory.getLogger(FailoverSteps.class);

    private final FailoverTasks tasks;
    private final Resumption session;
    private final Consumer<Runnable> giveUp;
    private final Consumer<Throwable> impossible;

    /**
     * Makes one of a session.
     *
     * @param giveUp gives the connection up, and has its path told why, when a step has thrown something
     * @param impossible hears why a step will not be done
     */
    FailoverSteps(FailoverTasks tasks, Resumption session, Consumer<Runnable> giveUp, Consumer<Throwable> impossible) {
        this.tasks = tasks;
        this.session = session;
        this.giveUp = giveUp;
        this.impossible = impossible;
    }

    /** Has a thread do it. Not from the data path. */
    void begin(Runnable step) {
        tasks.begin(() -> run(step), impossible);
    }

    /** The same so much later. */
    void beginLater(Duration delay, Runnable step) {
        tasks.beginLater(delay, () -> run(step), impossible);
    }

    /** The same with a result, once that is there. */
    <T> void beginWith(CompletableFuture<T> result, Consumer<T> step) {
        var _ = result.whenComplete((value, why) -> {
            if (why == null) {
                begin(() -> step.accept(value));
            } else {
                fail(why);
            }
        });
    }

    /** Does it on the caller's thread, which may block. */
    void run(Runnable step) {
        try {
            step.run();
        } catch (RuntimeException | Error e) {
            fail(e);
        }
    }

    private void fail(Throwable why) {
        log.warn("{}: failover failed", session.path(), why);
        giveUp.accept(() -> FailoverEnd.byFailure(session.path(), why.toString()));
    }
}
