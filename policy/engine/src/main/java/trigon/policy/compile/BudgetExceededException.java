package trigon.policy.compile;

/** A run took longer than it may. Always the same object, without a stack trace: throwing it allocates nothing. */
public final class BudgetExceededException extends RuntimeException {

    private static final long serialVersionUID = 1;

    @SuppressWarnings("StaticAssignmentOfThrowable") // it has no stack trace that could mislead
    static final BudgetExceededException INSTANCE = new BudgetExceededException();

    private BudgetExceededException() {
        super("the policy went round its loops more often than it may", null, false, false);
    }
}
