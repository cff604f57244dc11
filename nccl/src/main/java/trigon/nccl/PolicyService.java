package trigon.nccl;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The policy of a process: it advises NCCL's tuner and Trigon's connections. Found by {@link java.util.ServiceLoader};
 * nothing of it is loaded unless the settings name or require a policy. Thread-safe.
 */
public interface PolicyService {

    /**
     * Loads the policy on a thread of its own, which then watches the file. Called once, before anything else.
     *
     * @param file null: the settings require a policy, but name none
     * @param required whether communicators fail without a policy
     * @param wantsEvents is told after each look at the file whether the policy has a use for NCCL's events
     */
    void open(@Nullable Path file, boolean required, Consumer<Boolean> wantsEvents);

    /** Advice on connections; each question waits until the file has been looked at. */
    ConnectionAdvice connections();

    /**
     * Advice for the tuner of a communicator that begins; null: NCCL decides. Waits until the file has been looked at,
     * and where ranks must agree first, until they have.
     *
     * @param id NCCL's number of the communicator; 0: this version of NCCL does not say
     * @throws RuntimeException if the communicator must fail: a policy is required, or peers were told of one
     */
    @Nullable
    TunerAdvice forCommunicator(long id, int ranks, int nodes);

    /** Takes records of NCCL's events, laid out and ordered as {@code trigon.trace.RecordListener} says. */
    void heard(ByteBuffer records);

    /** Says that all records older than {@code since}, a time of {@link System#nanoTime}, have been heard. */
    void caughtUp(long since);
}
