package trigon.transport.session;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.transport.path.PathChannel;
import trigon.transport.protocol.Protocol;
import trigon.verbs.NativePoll;
import trigon.verbs.SendFlag;
import trigon.verbs.VerbsException;
import trigon.verbs.WorkCompletionStatus;
import trigon.verbs.WorkCompletions;

/**
 * Takes all that a fenced path has completed. A NIC says so bit by bit: a request is posted behind all others on either
 * queue, and when both are back nothing more comes, and nothing of the peer's reaches memory through the path. For who
 * has stopped the data path.
 */
final class Drain {

    private static final Logger log = LoggerFactory.getLogger(Drain.class);

    /** The requests that are posted behind all others; messages have numbers from 0. */
    private static final long LAST_SEND = -1;

    private static final long LAST_RECEIVE = -2;

    /** One that has failed, and of which nobody knows, may complete nothing any more. */
    private static final Duration PATIENCE = Duration.ofSeconds(1);

    private static final Duration LOOK = Duration.ofNanos(20_000);

    private final Protocol protocol;
    private final int number;
    private final PathChannel path;

    /** One of the two requests behind all others. */
    private enum Last {
        TO_POST,
        POSTED,
        /** It was flushed, and so is all that was before it. */
        FLUSHED
    }

    private Last lastSend = Last.TO_POST;
    private Last lastReceive = Last.TO_POST;

    /** The device completes it instead of flushing it: the queue pair has not gone to the error state. */
    private boolean alive;

    /**
     * Ends the use of a session's paths, and takes all that they have completed.
     *
     * @return false if the session has failed, or a path may still write
     */
    static boolean of(Session session, String why) {
        PathChannel[] paths = session.paths;
        for (PathChannel path : paths) {
            path.fence(why);
        }
        int polled = NativePoll.result(session.requests.takePolled());
        int taken = polled == 0 ? 0 : session.requests.taken();
        boolean done = !session.state().hasFailed();
        for (int number = 0; number < paths.length && done; number++) {
            Drain drain = new Drain(session.protocol(), number, paths[number]);
            boolean drained = number == 0
                    ? drain.takeAll(session.requests.completions(), taken, polled)
                    : drain.takeAll(session.requests.completions(), 0, 0);
            done = drained || drain.destroy(why);
        }
        if (session.protocol().failure() != null) {
            session.failByProtocol();
        }
        return done;
    }

    private Drain(Protocol protocol, int number, PathChannel path) {
        this.protocol = protocol;
        this.number = number;
        this.path = path;
    }

    /**
     * Takes completions, into which so many have been polled already, and some of them are accounted for. A device that
     * has failed completes nothing more, but what it has completed lies in the host's memory: it has acknowledged that
     * to the peer, and it is taken too.
     */
    private boolean takeAll(WorkCompletions completions, int taken, int polled) {
        boolean ok = take(completions, taken, polled);
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        boolean broken = polled < 0;
        boolean empty = false;
        while (ok && !broken && !alive && !isOver() && (!empty || completesMore(deadline))) {
            if (completesMore(deadline)) {
                post();
            }
            int count = path.completionQueue().poll(completions);
            broken = count < 0;
            ok = take(completions, 0, count);
            empty = count == 0;
            if (empty && completesMore(deadline)) {
                LockSupport.parkNanos(LOOK.toNanos());
            }
        }
        return ok && isOver();
    }

    private boolean completesMore(long deadline) {
        return !path.link().hasDeviceFailed()
                && !path.failedRequests().haveNoCompletions()
                && System.nanoTime() < deadline;
    }

    /** Without its queue pair a path writes nothing, either. */
    private boolean destroy(String why) {
        try {
            path.fence(why).close();
            return protocol.failure() == null;
        } catch (VerbsException e) {
            log.warn("{}: {}", path, e.getMessage());
            return false;
        }
    }

    private boolean isOver() {
        return lastSend == Last.FLUSHED && lastReceive == Last.FLUSHED;
    }

    /** A queue that is full has room once its requests are flushed. */
    private void post() {
        if (lastSend == Last.TO_POST && path.queuePair().postWrite(LAST_SEND, 0, 0, 0, 0, 0, SendFlag.SIGNALED) == 0) {
            lastSend = Last.POSTED;
        }
        if (lastReceive == Last.TO_POST && path.queuePair().postReceive(LAST_RECEIVE, 0, 0, 0) == 0) {
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
                alive |= request < 0;
                ok = request == LAST_SEND || protocol.succeeded(number, completions, index);
            }
        }
        return ok;
    }
}
