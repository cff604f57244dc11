package trigon.software.lanes;

import java.util.concurrent.atomic.AtomicReference;

/**
 * Which worker may send on a lane: one at a time, and nobody any more once it is retired. Each sees what those before
 * it have written. Allocates nothing after construction.
 */
final class LaneOwnership {

    private enum State {
        FREE,
        OWNED,
        RETIRED
    }

    private final AtomicReference<State> state = new AtomicReference<>(State.FREE);

    /** False if somebody has it, or nobody may any more; who gets true {@linkplain #release lets go} of it. */
    boolean tryAcquire() {
        return state.get() == State.FREE && state.compareAndSet(State.FREE, State.OWNED);
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
