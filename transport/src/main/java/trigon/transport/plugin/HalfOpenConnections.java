package trigon.transport.plugin;

import java.time.Duration;
import java.util.function.LongConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.transport.connect.Acceptor;
import trigon.transport.connect.PendingConnection;
import trigon.transport.handle.HandleTable;

/**
 * Closes connections that came up, or failed, and that NCCL has not asked for since. An aborted communicator drops what
 * is half open; its context closes that, but the API versions before 11 have no end of a context.
 *
 * <p>NCCL asks without a pause once it waits for a connection, but it may begin late: while it waits for a third rank.
 * So the patience is that of a job with one very slow rank. It is counted in looks, not by the clock: what a process
 * slept through when it was stopped does not count.
 */
final class HalfOpenConnections {

    /** From one look to the next. */
    static final Duration INTERVAL = Duration.ofMinutes(1);

    /** So many looks without a question in between. */
    static final int PATIENCE = 60;

    private static final Logger log = LoggerFactory.getLogger(HalfOpenConnections.class);

    private final HandleTable<Acceptor> acceptors;
    private final HandleTable<PendingConnection> pending;
    private final LongConsumer closeListen;
    private final LongConsumer abandon;

    /**
     * Nothing is looked at before {@link #look}.
     *
     * @param closeListen has a listen comm closed and what it holds, by its handle; does not block
     * @param abandon the same for a connection on its way up
     */
    HalfOpenConnections(
            HandleTable<Acceptor> acceptors,
            HandleTable<PendingConnection> pending,
            LongConsumer closeListen,
            LongConsumer abandon) {
        this.acceptors = acceptors;
        this.pending = pending;
        this.closeListen = closeListen;
        this.abandon = abandon;
    }

    /** Gives up those that NCCL has left alone for too many looks. Does not block. */
    void look() {
        for (long handle : acceptors.handles()) {
            Acceptor acceptor = acceptors.find(handle);
            if (acceptor != null && acceptor.unaskedLooks() >= PATIENCE) {
                log.warn("{} is closed: it came up {} ago, and NCCL has not called accept since", acceptor, limit());
                closeListen.accept(handle);
            }
        }
        for (long handle : pending.handles()) {
            PendingConnection connection = pending.find(handle);
            if (connection != null && connection.unaskedLooks() >= PATIENCE) {
                log.warn(
                        "the connection to {} is closed: NCCL has not called connect again for {}",
                        connection.peer(),
                        limit());
                abandon.accept(handle);
            }
        }
    }

    private static String limit() {
        return INTERVAL.multipliedBy(PATIENCE).toMinutes() + " minutes";
    }
}
