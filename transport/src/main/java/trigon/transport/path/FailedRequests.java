package trigon.transport.path;

import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import trigon.verbs.WorkCompletionStatus;

/**
 * Why requests on a path have failed, as far as it is known: one that was flushed, or not answered, is a consequence.
 * What is learned later is logged then. For the end of a session, not for the data path. Any thread.
 */
public final class FailedRequests {

    private final Supplier<@Nullable PathLoss> knownLoss;

    /** They are consequences of something that was not known then. */
    private volatile boolean unexplained;

    /** The queue pair has failed as a whole, and completes nothing more. */
    private volatile boolean withoutCompletions;

    /** None so far, on a path of whose loss that is known. */
    FailedRequests(Supplier<@Nullable PathLoss> knownLoss) {
        this.knownLoss = knownLoss;
    }

    /** For the log: what its status means, and for one that was only flushed, or had no answer, what was before it. */
    public String why(WorkCompletionStatus status) {
        if (status != WorkCompletionStatus.WR_FLUSHED && status != WorkCompletionStatus.RETRY_EXCEEDED) {
            return status.explanation();
        }
        PathLoss known = knownLoss.get();
        if (known != null) {
            return known.words();
        }
        unexplained = true;
        return status == WorkCompletionStatus.RETRY_EXCEEDED
                ? status.explanation()
                : "no earlier request failed, so the peer may be the cause; see the next line about this"
                        + " connection, and the peer's log";
    }

    /** Takes note that the queue pair has failed as a whole: no completion says of any request that it has failed. */
    public void expectNoCompletions() {
        withoutCompletions = true;
    }

    /** Tells whether no completions of them are to be waited for. */
    public boolean haveNoCompletions() {
        return withoutCompletions;
    }

    /** Tells whether they have failed for a reason that the lifeline may still tell, within a moment. */
    public boolean areUnexplained() {
        return unexplained;
    }

    /** Why they have failed, if that is known by now and was not then; else null. */
    public @Nullable PathLoss laterLoss() {
        return unexplained ? knownLoss.get() : null;
    }
}
