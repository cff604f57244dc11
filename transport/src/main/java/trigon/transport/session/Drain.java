package trigon.transport.session;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.qpstate.QueuePairLifecycle;
import trigon.transport.path.PathChannel;
import trigon.transport.protocol.Protocol;
import trigon.verbs.NativePoll;
import trigon.verbs.SendFlag;
import trigon.verbs.WorkCompletionStatus;
import trigon.verbs.WorkCompletions;

/**
 * Fences a path, and takes all that it has completed. Its queue pair is taken to the error state by a call, and by a
 * request that it cannot carry out: a device whose calls hang does that by itself. A NIC says so bit by bit: a request
 * is behind all others on either queue, and when both are back nothing more comes, and nothing of the peer's reaches
 * memory through the path. For who has stopped the data path.
 */
final class Drain {

    private static final Logger log = LoggerFactory.getLogger(Drain.class);

    /** The requests that are posted behind all others; messages have numbers from 0. */
    private static final long LAST_SEND = -1;

    /** No memory has that key. */
    private static final int NO_KEY = -1;

    private static final long LAST_RECEIVE = -2;

    /** One that has failed, and of which nobody knows, may complete nothing any more. */
    private static final Duration PATIENCE = Duration.ofSeconds(1);

    private static final Duration LOOK = Duration.ofNanos(20_000);

    private final Protocol protocol;
    private final int number;
    private final PathChannel path;
    private final CompletableFuture<Void> stopped;

    /** One of the two requests behind all others. */
    private enum Last {
        TO_POST,
        POSTED,
        /** It has failed, and all that was before it is over. */
        FLUSHED
    }

    private Last lastSend = Last.TO_POST;
    private Last lastReceive = Last.TO_POST;

    /** When it was seen last that the device still has the call before it. */
    private long since = System.nanoTime();

    /**
     * Ends the use of a session's paths, and takes all that they have completed.
     *
     * @return false if the session has failed, or a path may still write
     */
    static boolean of(Session session, String why) {
        PathChannel[] paths = session.paths;
        List<CompletableFuture<Void>> stopped =
                Arrays.stream(paths).map(path -> stop(path, why)).toList();
        int polled = NativePoll.result(session.requests.takePolled());
        int taken = polled == 0 ? 0 : session.requests.taken();
        boolean done = !session.state().hasFailed();
        for (int number = 0; number < paths.length && done; number++) {
            Drain drain = new Drain(session.protocol(), number, paths[number], stopped.get(number));
            boolean drained = number == 0
                    ? drain.takeAll(session.requests.completions(), taken, polled)
                    : drain.takeAll(session.requests.completions(), 0, 0);
            done = drained || drain.destroy();
        }
        if (session.protocol().failure() != null) {
            session.failByProtocol();
        }
        return done;
    }

    private static CompletableFuture<Void> stop(PathChannel path, String why) {
        QueuePairLifecycle queuePair = path.interrupt();
        return path.link().begin(() -> queuePair.fail(new IllegalStateException(why)));
    }

    private Drain(Protocol protocol, int number, PathChannel path, CompletableFuture<Void> stopped) {
        this.protocol = protocol;
        this.number = number;
        this.path = path;
        this.stopped = stopped;
    }

    /**
     * Takes completions, into which so many have been polled already, and some of them are accounted for. A device that
     * has failed completes nothing more, but what it has completed lies in the host's memory: it has acknowledged that
     * to the peer, and it is taken too.
     */
    private boolean takeAll(WorkCompletions completions, int taken, int polled) {
        boolean ok = take(completions, taken, polled);
        boolean broken = polled < 0;
        boolean empty = false;
        while (ok && !broken && !isOver() && (!empty || completesMore())) {
            if (completesMore()) {
                post();
            }
            int count = path.completionQueue().poll(completions);
            broken = count < 0;
            ok = take(completions, 0, count);
            empty = count == 0;
            if (empty && completesMore()) {
                LockSupport.parkNanos(LOOK.toNanos());
            }
        }
        return ok && isOver();
    }

    private boolean completesMore() {
        since = stopped.isDone() ? since : System.nanoTime();
        return !path.link().hasDeviceFailed()
                && !path.failedRequests().haveNoCompletions()
                && System.nanoTime() - since < PATIENCE.toNanos();
    }

    /** Without its queue pair a path writes nothing, either. */
    private boolean destroy() {
        try {
            path.link().begin(path.interrupt()::close).join();
            return protocol.failure() == null;
        } catch (CompletionException e) {
            log.warn("{}: {}", path, String.valueOf(e.getCause()));
            return false;
        }
    }

    private boolean isOver() {
        return lastSend == Last.FLUSHED && lastReceive == Last.FLUSHED;
    }

    /** A queue that is full has room once its requests are flushed. No message takes the receive once it is posted. */
    private void post() {
        if (lastSend == Last.TO_POST
                && path.queuePair().postWrite(LAST_SEND, 0, 1, NO_KEY, 0, 0, SendFlag.SIGNALED) == 0) {
            lastSend = Last.POSTED;
        }
        if (lastSend == Last.FLUSHED
                && lastReceive == Last.TO_POST
                && path.queuePair().postReceive(LAST_RECEIVE, 0, 0, 0) == 0) {
            lastReceive = Last.POSTED;
        }
    }

    private boolean take(WorkCompletions completions, int from, int count) {
        boolean ok = true;
        for (int index = from; index < count && ok; index++) {
            long request = completions.workRequestId(index);
            if (completions.statusCode(index) != WorkCompletionStatus.SUCCESS_CODE) {
                lastSend = request == LAST_SEND ? Last.FLUSHED : lastSend;
                lastReceive = request == LAST_RECEIVE ? Last.FLUSHED : lastReceive;
            } else {
                ok = protocol.succeeded(number, completions, index);
            }
        }
        return ok;
    }
}
