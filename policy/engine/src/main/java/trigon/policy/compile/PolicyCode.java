package trigon.policy.compile;

import trigon.policy.map.MapSpec;

/** A compiled program. Any thread; allocates nothing, takes no lock. */
public interface PolicyCode {

    /**
     * Runs the program once.
     *
     * @param context address of its context
     * @param stackTop address behind the stack of {@link #STACK_BYTES}, a multiple of 8, used by one thread at a time;
     *     followed by {@link #BELOW_STACK_BYTES} that belong to the run, too: how often it may still go round its
     *     loops, and the key that a helper works on
     * @param shadow 0, or -1 to work on the shadows of the maps
     * @return what the program returns
     * @throws BudgetExceededException if the run takes longer than it may; outputs may be half-written then
     */
    long run(long context, long stackTop, long shadow);

    int STACK_BYTES = 512;
    int BUDGET_BYTES = 8;
    int BELOW_STACK_BYTES = BUDGET_BYTES + MapSpec.MAX_KEY_BYTES;

    /** A run took longer than it may. Always the same object, without a stack trace: throwing it allocates nothing. */
    final class BudgetExceededException extends RuntimeException {

        private static final long serialVersionUID = 1;

        @SuppressWarnings("StaticAssignmentOfThrowable") // it has no stack trace that could mislead
        static final BudgetExceededException INSTANCE = new BudgetExceededException();

        private BudgetExceededException() {
            super("the policy went round its loops more often than it may", null, false, false);
        }
    }
}
