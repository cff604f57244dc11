package trigon.software;

import java.util.concurrent.atomic.AtomicReference;

/**
 * Who may send on a lane: one worker at a time, and nobody any more once it is retired. Each sees what those before it
 * have written. Allocates nothing after construction.
 */
final class Claim {

    private enum State {
        FREE,
        TAKEN,
        RETIRED
    }

    private final AtomicReference<State> state = new AtomicReference<>(State.FREE);

    /** False if somebody has it, or nobody may any more; who gets true {@linkplain #release lets go} of it. */
    boolean take() {
        return state.get() == State.FREE && state.compareAndSet(State.FREE, State.TAKEN);
    }

    void release() {
        state.set(State.FREE);
    }

    /** Waits until nobody has it, which is for some system calls at most; nobody gets it any more. Twice is allowed. */
    @SuppressWarnings("ThreadPriorityCheck") // who has it may need this core
    void retire() {
        while (!state.compareAndSet(State.FREE, State.RETIRED) && state.get() != State.RETIRED) {
            Thread.yield();
        }
    }
}
