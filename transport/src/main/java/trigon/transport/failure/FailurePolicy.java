package trigon.transport.failure;

import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.BiConsumer;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.transport.session.Session;
import trigon.transport.session.SessionFailure;

/**
 * Gives up a communicator's other sessions when NCCL has learned that one has failed. NCCL's progress thread ends with
 * that (ncclProxyProgress in its source, proxy.cc), and of what that thread has moved nothing is moved again. So those
 * peers are told now: who waits for this rank would otherwise hear of it when the program aborts the communicator,
 * however late that is. Sessions that another thread uses go on: with NCCL_OOB_NET_ENABLE the bootstrap's are in the
 * same context.
 */
public final class FailurePolicy implements BiConsumer<Session, SessionFailure> {

    private static final Logger log = LoggerFactory.getLogger(FailurePolicy.class);

    private final LongFunction<@Nullable Communicator> communicators;
    private final String node;
    private final Executor atOnce;
    private final Executor afterGrace;

    /**
     * Makes one of a plugin.
     *
     * @param communicators by the handles of their contexts; null where one is closed
     * @param node this node's name, for the peers
     * @param atOnce runs what may block, and returns at once itself
     * @param afterGrace the same, once a lifeline has had time to tell of a peer's end
     */
    public FailurePolicy(
            LongFunction<@Nullable Communicator> communicators, String node, Executor atOnce, Executor afterGrace) {
        this.communicators = communicators;
        this.node = node;
        this.atOnce = atOnce;
        this.afterGrace = afterGrace;
    }

    /** NCCL has learned that a session has failed; acts at once, or when it is known why. On the data path. */
    @Override
    public void accept(Session session, SessionFailure failure) {
        Executor then = failure.on().failedRequests().areUnexplained() ? afterGrace : atOnce;
        try {
            then.execute(() -> giveUpOthers(session, failure));
        } catch (RejectedExecutionException e) {
            log.debug("{}: the plugin is closed", failure.on(), e);
        }
    }

    private void giveUpOthers(Session first, SessionFailure cause) {
        Communicator communicator = communicators.apply(first.context());
        if (communicator == null) {
            return;
        }
        CommunicatorFailure failure = CommunicatorFailure.of(communicator.commId(), node, cause, first.thread());
        if (!communicator.failsBy(failure)) {
            return;
        }
        List<Session> others = communicator.sessions().stream()
                .filter(session -> session != first)
                .filter(session -> session.thread() == 0 || session.thread() == failure.thread())
                .toList();
        log.info(
                "{}. Its {} other comms here are closed, and their peers are told",
                failure.why().words(),
                others.size());
        others.forEach(session -> session.giveUp(failure.result(), failure.why()));
        others.forEach(Session::endQueuePairs);
    }
}
