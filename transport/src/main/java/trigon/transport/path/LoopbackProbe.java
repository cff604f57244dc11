package trigon.transport.path;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import trigon.verbs.SendFlag;
import trigon.verbs.VerbsException;
import trigon.verbs.WorkCompletionStatus;
import trigon.verbs.WorkCompletions;

/**
 * Asks a device for something that goes to itself. NICs may be told not to do that, and then they cannot flush what
 * they have written to a GPU.
 */
public final class LoopbackProbe {

    private static final Duration PATIENCE = Duration.ofMillis(500);

    private static final Duration LOOK = Duration.ofNanos(20_000);

    private LoopbackProbe() {}

    /** Returns whether a link's device does it. May block. */
    public static boolean passes(Link link) {
        try (FlushQueuePair asked = new FlushQueuePair(link, 1);
                WorkCompletions completions = new WorkCompletions(1)) {
            return asked.lifecycle.queuePair().postWrite(0, 0, 0, 0, 0, 0, SendFlag.SIGNALED) == 0
                    && comesBack(asked, completions);
        } catch (VerbsException _) {
            return false;
        }
    }

    private static boolean comesBack(FlushQueuePair asked, WorkCompletions completions) {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        int count = asked.completionQueue.poll(completions);
        while (count == 0 && System.nanoTime() < deadline) {
            LockSupport.parkNanos(LOOK.toNanos());
            count = asked.completionQueue.poll(completions);
        }
        return count == 1 && completions.statusCode(0) == WorkCompletionStatus.SUCCESS_CODE;
    }
}
