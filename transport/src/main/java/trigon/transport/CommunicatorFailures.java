package trigon.transport;

import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.BiConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gives up a communicator's other comms when NCCL has learned that one has failed. NCCL's progress thread ends with that
 * (ncclProxyProgress in its source, proxy.cc), and of what that thread has moved nothing is moved again. So those peers are
 * told now: who waits for this rank would otherwise hear of it when the program aborts the communicator, however late that is.
 * Comms that another thread uses go on: with NCCL_OOB_NET_ENABLE the bootstrap's are in the same context.
 */
final class CommunicatorFailures implements BiConsumer<Comm, Comm.Cause> {

    private static final Logger log = LoggerFactory.getLogger(CommunicatorFailures.class);

    private final HandleTable<Context> contexts;
    private final HandleTable<Comm> comms;
    private final String node;
    private final Executor atOnce;
    private final Executor afterGrace;

    /**
     * Of a plugin.
     *
     * @param node this node's name, for the peers
     * @param atOnce runs what may block, and returns at once itself
     * @param afterGrace the same, {@link ConnectionFactory#GRACE} later
     */
    CommunicatorFailures(
            HandleTable<Context> contexts, HandleTable<Comm> comms, String node, Executor atOnce, Executor afterGrace) {
        this.contexts = contexts;
        this.comms = comms;
        this.node = node;
        this.atOnce = atOnce;
        this.afterGrace = afterGrace;
    }

    /** NCCL has learned that a comm has failed; acts at once, or when it is known why. On the data path. */
    @Override
    public void accept(Comm comm, Comm.Cause cause) {
        Executor then = cause.on().isUnexplained() ? afterGrace : atOnce;
        try {
            then.execute(() -> giveUpOthers(comm, cause));
        } catch (RejectedExecutionException e) {
            log.debug("{}: the plugin is closed", cause.on(), e);
        }
    }

    private void giveUpOthers(Comm first, Comm.Cause cause) {
        Context context = contexts.find(first.context());
        if (context == null) {
            return;
        }
        CommunicatorFailure failure = CommunicatorFailure.of(
                context.commId(), node, cause.result(), cause.on().explained(cause.what()), first.thread());
        if (!context.failsBy(failure)) {
            return;
        }
        List<Comm> others = context.comms().stream()
                .map(comms::find)
                .filter(comm -> comm != null && comm != first)
                .filter(comm -> comm.thread() == 0 || comm.thread() == failure.thread())
                .toList();
        log.info("{}. Its {} other comms here are given up, and their peers are told", failure.words(), others.size());
        others.forEach(comm -> comm.giveUp(failure));
        others.forEach(Comm::endQueuePairs);
    }
}
