package trigon.transport;

import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.function.LongConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Closes connections that came up, or failed, and that NCCL has not asked for since. An aborted communicator drops what is
 * half open; its context closes that, but the API versions before 11 have no end of a context.
 *
 * <p>NCCL asks without a pause once it waits for a connection, but it may begin late: while it waits for a third rank. So
 * the patience is that of a job with one very slow rank. It is counted in looks, not by the clock: what a process slept
 * through when it was stopped does not count.
 */
final class HalfOpenConnections {

    /** From one look to the next. */
    static final Duration INTERVAL = Duration.ofMinutes(1);

    /** So many looks without a question in between. */
    static final int PATIENCE = 60;

    private static final Logger log = LoggerFactory.getLogger(HalfOpenConnections.class);

    private final HandleTable<ListenComm> listenComms;
    private final HandleTable<Connecting> connecting;
    private final LongConsumer closeListen;
    private final LongConsumer abandon;
    private final Executor nextTime;
    private boolean stopped;

    /**
     * Nothing is looked at before {@link #start}.
     *
     * @param closeListen has a listen comm closed and what it holds, by its handle; does not block
     * @param abandon the same for a connection on its way up
     * @param nextTime runs what does not block, {@link #INTERVAL} later
     */
    HalfOpenConnections(
            HandleTable<ListenComm> listenComms,
            HandleTable<Connecting> connecting,
            LongConsumer closeListen,
            LongConsumer abandon,
            Executor nextTime) {
        this.listenComms = listenComms;
        this.connecting = connecting;
        this.closeListen = closeListen;
        this.abandon = abandon;
        this.nextTime = nextTime;
    }

    void start() {
        nextTime.execute(this::lookAgainAndAgain);
    }

    /** Looks no more; waits for a look that is under way. */
    synchronized void stop() {
        stopped = true;
    }

    private synchronized void lookAgainAndAgain() {
        if (!stopped) {
            look();
            start();
        }
    }

    /** One look at all of them. */
    void look() {
        for (long handle : listenComms.handles()) {
            ListenComm listenComm = listenComms.find(handle);
            if (listenComm != null && listenComm.unaskedLooks() >= PATIENCE) {
                log.warn("{} is closed: it came up {} ago, and accept has not been called since", listenComm, limit());
                closeListen.accept(handle);
            }
        }
        for (long handle : connecting.handles()) {
            Connecting pending = connecting.find(handle);
            if (pending != null && pending.unaskedLooks() >= PATIENCE) {
                log.warn("the connection to {} is closed: connect has not been called for {}", pending.peer(), limit());
                abandon.accept(handle);
            }
        }
    }

    private static String limit() {
        return INTERVAL.multipliedBy(PATIENCE).toMinutes() + " minutes";
    }
}
