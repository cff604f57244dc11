package trigon.transport.path;

import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import trigon.system.Errno;
import trigon.verbs.SendFlag;
import trigon.verbs.VerbsException;
import trigon.verbs.WorkCompletionStatus;
import trigon.verbs.WorkCompletions;

/**
 * Asks over an RDMA queue pair that has just come up whether anything gets across. Its handshake went over TCP, which
 * says nothing of that: a switch may drop RoCE, a GID may lead elsewhere, a cable may lose what goes one way. An RDMA
 * WRITE of no bytes changes nothing at the peer, needs no key (C9-88 of the InfiniBand specification), and is
 * acknowledged. Control threads; before anybody else polls the path's completions.
 */
public final class DataPathProbe implements Runnable {

    /** So long the acknowledgement is waited for; by its settings a NIC may send again for many seconds. */
    private static final Duration PATIENCE = Duration.ofMillis(500);

    private static final Duration LOOK = Duration.ofNanos(20_000);

    private static final long REQUEST = -1;

    private final PathChannel path;
    private final long deadline;

    private DataPathProbe(PathChannel path, long deadline) {
        this.path = path;
        this.deadline = deadline;
    }

    /**
     * Posts the write. Several paths' writes are posted first and waited for afterwards, so that they share the wait.
     *
     * @throws VerbsException if it cannot be posted
     */
    public static DataPathProbe begin(PathChannel path) {
        int errno = path.queuePair().postWrite(REQUEST, 0, 0, 0, 0, 0, SendFlag.SIGNALED);
        if (errno != 0) {
            throw failed(path, errno, "an empty RDMA WRITE cannot be posted");
        }
        return new DataPathProbe(path, System.nanoTime() + PATIENCE.toNanos());
    }

    /** Returns once the write is acknowledged; throws as {@link #poll} does. */
    @Override
    public void run() {
        while (!poll()) {
            LockSupport.parkNanos(LOOK.toNanos());
        }
    }

    /**
     * Takes the write's completion. Returns false if there is none yet, and there is time.
     *
     * @throws VerbsException if it has failed, or has not been acknowledged in time
     */
    public boolean poll() {
        boolean late = System.nanoTime() - deadline >= 0; // before the look: who polls late may find it done
        try (Arena arena = Arena.ofConfined()) { // closing a shared one would stop all threads of the process
            WorkCompletions completions = new WorkCompletions(
                    arena.allocate(WorkCompletions.STRIDE, Long.BYTES).address(), 1);
            int count = path.completionQueue().poll(completions);
            if (count == 0 && !late) {
                return false;
            }
            if (count < 0) {
                throw failed(path, -count, "the completion queue cannot be polled");
            }
            WorkCompletionStatus status = count == 0
                    ? WorkCompletionStatus.RETRY_EXCEEDED
                    : WorkCompletionStatus.ofCode(completions.statusCode(0));
            if (status == WorkCompletionStatus.RETRY_EXCEEDED) {
                throw failed(path, Errno.ETIMEDOUT, "an empty RDMA WRITE is not acknowledged, though TCP gets through");
            }
            if (status != WorkCompletionStatus.SUCCESS) {
                throw failed(path, Errno.EIO, "an empty RDMA WRITE failed with " + status);
            }
            return true;
        }
    }

    private static VerbsException failed(PathChannel path, int errno, String what) {
        return new VerbsException(
                "ibv_post_send",
                "%s to %s"
                        .formatted(
                                path.link().local(),
                                Objects.requireNonNull(path.remote()).gid()),
                errno,
                what + ": check that RoCE (UDP port 4791) passes both ways between them, and that both GIDs are on"
                        + " this network");
    }
}
