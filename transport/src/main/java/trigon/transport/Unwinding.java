package trigon.transport;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Undoes a sequence of steps, last first, unless it succeeded: for objects that take several native resources.
 *
 * <p>Used with try-with-resources on one thread.
 */
final class Unwinding implements AutoCloseable {

    private final Deque<Runnable> steps = new ArrayDeque<>();

    /** What to do if a later step fails. */
    void onFailure(Runnable step) {
        steps.push(step);
    }

    /** Nothing is to be undone any more. */
    void succeeded() {
        steps.clear();
    }

    @Override
    public void close() {
        steps.forEach(Runnable::run);
    }
}
