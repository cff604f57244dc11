package trigon.transport.failover;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import trigon.handshake.LifelineEnd;
import trigon.handshake.message.EndFailure;
import trigon.nccl.NcclResult;
import trigon.transport.path.PathChannel;

/** The end of a session's failover: by its close, or with the session, and why. Thread-safe. */
final class FailoverEnd {

    private final CompletableFuture<Void> reached = new CompletableFuture<>();

    /** Completes when it has come; what waits may be ended by it. */
    CompletableFuture<Void> reached() {
        return reached;
    }

    boolean isReached() {
        return reached.isDone();
    }

    /** It has come. False if it had before. */
    boolean reach() {
        return reached.complete(null);
    }

    /** Waits, but not beyond the end. */
    void sleep(Duration time) {
        try {
            var _ = reached.get(time.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException | ExecutionException _) {
            // time is over
        } catch (InterruptedException e) {
            throw new IllegalStateException("interrupted while looking for a path", e);
        }
    }

    // ---- what a path is told then

    /** The peer's process knows nothing of the connection any more. */
    static void byAbsence(PathChannel path) {
        path.peerIsGone(new LifelineEnd.Broken("the peer no longer knows the connection"));
    }

    /** The peer's end has failed. */
    static void byRefusal(PathChannel path, String why) {
        path.peerIsGone(new LifelineEnd.Failed(ofConnection(why)));
    }

    /**
     * No path was found in time.
     *
     * @param suspicion of the paths in use
     * @param limit of a peer's silence
     * @param why it was looked for, and what was found
     */
    static void byTime(PathChannel path, PathSuspicion suspicion, Duration limit, String why) {
        if (suspicion.isSilent()) {
            path.peerIsGone(new LifelineEnd.Silent(limit));
            return;
        }
        path.giveUp(
                NcclResult.REMOTE_ERROR,
                ofConnection(("%s; and no path to the peer came up within handshake.peerTimeout. Check the cables,"
                                + " and the links with ip -s link on both nodes")
                        .formatted(why)));
    }

    /** Nothing can be done here, for want of a thread. */
    static void byLackOfThread(PathChannel path, String why) {
        byFailure(
                path,
                "%s. Cannot start a thread to find another path: see the limits on processes, ulimit -u and the"
                                .formatted(why)
                        + " pids limit of the container");
    }

    /** Something here does not work as it should. */
    static void byFailure(PathChannel path, String why) {
        path.giveUp(NcclResult.SYSTEM_ERROR, ofConnection(why));
    }

    private static EndFailure ofConnection(String why) {
        return new EndFailure(EndFailure.Scope.CONNECTION, why);
    }
}
