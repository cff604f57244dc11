package trigon.transport;

import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * Undoes a sequence of steps, last first, unless it succeeded: for objects that take several native resources.
 *
 * <p>Used with try-with-resources on one thread.
 */
public final class Unwinding implements AutoCloseable {

    private final Deque<Runnable> steps = new ArrayDeque<>();

    public void onFailure(Runnable step) {
        steps.push(step);
    }

    /** Nothing is to be undone any more. */
    public void succeeded() {
        steps.clear();
    }

    /** Undoes all steps, also where one of them fails; the first failure is thrown after the last step. */
    @Override
    public void close() {
        @Nullable RuntimeException failure = null;
        for (Runnable step : steps) {
            try {
                step.run();
            } catch (RuntimeException e) {
                if (failure == null) {
                    failure = e;
                } else {
                    failure.addSuppressed(e);
                }
            }
        }
        if (failure != null) {
            throw failure;
        }
    }
}
