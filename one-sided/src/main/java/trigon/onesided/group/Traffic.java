package trigon.onesided.group;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.nccl.NcclResult;
import trigon.onesided.memory.GpuMemory;
import trigon.onesided.memory.Transfer;
import trigon.onesided.memory.Windows;
import trigon.onesided.peer.Incoming;
import trigon.onesided.peer.Outgoing;
import trigon.onesided.peer.RequestPool;
import trigon.onesided.peer.SelfCopies;

/**
 * A group's data path: what NCCL's progress thread calls. Calls come from one thread at a time; they neither wait,
 * allocate nor throw, and return what is negative for a failure: minus the code of an {@link NcclResult}. After a
 * failure every call returns it.
 */
public final class Traffic {

    private static final Logger log = LoggerFactory.getLogger(Traffic.class);
    private static final int INVALID_ARGUMENT = -NcclResult.INVALID_ARGUMENT.code();
    private static final int REMOTE_ERROR = -NcclResult.REMOTE_ERROR.code();
    private static final String HAS_LEFT = "it has already destroyed its communicator (ncclCommDestroy); no rank"
            + " may end before the last put to it";
    private static final int INVALID_USAGE = -NcclResult.INVALID_USAGE.code();

    private final int rank;
    private final int ranks;
    private final Outgoing[] outgoing;
    private final Incoming[] incoming;
    private final SelfCopies self;
    private final Windows windows;
    private final RequestPool requests;
    private final GpuMemory device;
    private final boolean usesDevice;
    private final Transfer transfer = new Transfer();
    private int failed;

    Traffic(Peers peers, SelfCopies self, Windows windows, RequestPool requests, GpuMemory device) {
        rank = peers.rank();
        outgoing = peers.outgoing().toArray(Outgoing[]::new);
        incoming = peers.incoming().toArray(Incoming[]::new);
        ranks = outgoing.length + 1;
        this.self = self;
        this.windows = windows;
        this.requests = requests;
        this.device = device;
        usesDevice = device.exists();
    }

    public boolean hasFailed() {
        return failed != 0;
    }

    /** Index of a rank's ends; the own rank has none. */
    private int place(int other) {
        return other < rank ? other : other - 1;
    }

    /** The one to be filled for the next {@link #put} or {@link #get}, of which nothing is kept after the call. */
    public Transfer transfer() {
        return transfer;
    }

    /**
     * Copies to a rank's window, then adds to a signal there.
     *
     * @return a request
     */
    public long put(Transfer put, int to) {
        if (failed != 0) {
            return failed;
        }
        if (!put.findForPut(windows) || to < 0 || to >= ranks) {
            return refuse("put", put.size(), to);
        }
        long request = requests.begin();
        if (request == 0) {
            return tooMany(to);
        }
        enter();
        long result = to == rank ? copyToSelf(put, request) : putTo(to, put, request);
        leave();
        return result;
    }

    private long putTo(int to, Transfer put, long request) {
        Outgoing out = outgoing[place(to)];
        if (incoming[place(to)].hasLeft()) {
            return fail(REMOTE_ERROR, to, HAS_LEFT);
        }
        return out.put(put, request) ? started(out, to, request) : tooMany(to);
    }

    private long copyToSelf(Transfer copy, long request) {
        while (!self.reserve(copy.signal())) { // another rank's addition, which takes some microseconds
            int result = progressAll();
            if (result != 0) {
                return result;
            }
        }
        int result = self.copy(copy);
        if (result != 0) {
            return fail(result, rank, null);
        }
        requests.finish(request);
        return request;
    }

    /**
     * Copies from a rank's window.
     *
     * @param get without a signal
     * @return a request
     */
    public long get(Transfer get, int from) {
        if (failed != 0) {
            return failed;
        }
        if (!get.findForGet(windows) || from < 0 || from >= ranks) {
            return refuse("get", get.size(), from);
        }
        long request = requests.begin();
        if (request == 0) {
            return tooMany(from);
        }
        enter();
        long result = from == rank ? copyToSelf(get, request) : getFrom(from, get, request);
        leave();
        return result;
    }

    private long getFrom(int from, Transfer get, long request) {
        Outgoing out = outgoing[place(from)];
        if (incoming[place(from)].hasLeft()) {
            return fail(REMOTE_ERROR, from, HAS_LEFT);
        }
        return out.get(get, request) ? started(out, from, request) : tooMany(from);
    }

    /**
     * Flushes nothing: what was fetched is visible to the GPU once its request was done, by host memory at once, by
     * copies when they are over.
     *
     * @return a request that is done
     */
    public long flush() {
        if (failed != 0) {
            return failed;
        }
        long request = requests.begin();
        if (request == 0) {
            return tooMany(rank);
        }
        requests.finish(request);
        return request;
    }

    private long started(Outgoing out, int to, long request) {
        int result = out.progress();
        return result == 0 ? request : fail(result, to, null);
    }

    /** Tells whether a request is done: 1 or 0, or a failure; one that was reported done is gone. */
    public int test(long request) {
        int state = requests.test(request);
        if (state == RequestPool.NOT_DONE) {
            int result = progress();
            state = result == 0 ? requests.test(request) : RequestPool.NOT_DONE;
        }
        return switch (state) {
            case RequestPool.DONE -> 1;
            case RequestPool.NOT_DONE -> failed;
            default -> INVALID_ARGUMENT;
        };
    }

    /**
     * Tells the other ranks that this one ends its part, as far as nothing is under way with them: control path, when
     * the data path is at rest.
     */
    void leave(Patience patience) {
        if (failed != 0) {
            return;
        }
        enter();
        boolean[] done = new boolean[outgoing.length];
        for (int i = 0; i < outgoing.length; i++) {
            done[i] = incoming[i].hasLeft() || !outgoing[i].leave();
        }
        patience.briefly(() -> {
            boolean all = true;
            for (int i = 0; i < outgoing.length; i++) {
                // who has left, or is lost, need not hear it
                done[i] = done[i]
                        || incoming[i].progress() != 0
                        || incoming[i].hasLeft()
                        || outgoing[i].progress() != 0
                        || outgoing[i].isIdle();
                all &= done[i];
            }
            return all;
        });
        leave();
    }

    /** Moves what can be moved; 0, or a failure. */
    public int progress() {
        if (failed != 0) {
            return failed;
        }
        enter();
        int result = progressAll();
        leave();
        return result;
    }

    private int progressAll() {
        for (int i = 0; i < incoming.length; i++) {
            int result = incoming[i].progress();
            if (result != 0) {
                return fail(result, i < rank ? i : i + 1, incoming[i].problem());
            }
            result = outgoing[i].progress();
            if (result != 0) {
                return fail(result, i < rank ? i : i + 1, null);
            }
            if (incoming[i].hasLeft() && outgoing[i].awaitsAnswers()) {
                return fail(REMOTE_ERROR, i < rank ? i : i + 1, HAS_LEFT);
            }
        }
        return 0;
    }

    private void enter() {
        if (usesDevice) {
            device.enter();
        }
    }

    private void leave() {
        if (usesDevice) {
            device.leave();
        }
    }

    // ---- the ends of it: what logs and allocates

    private int fail(int result, int other, @Nullable String problem) {
        if (failed == 0) {
            failed = result;
            String why = problem != null
                    ? problem
                    : -result == NcclResult.UNHANDLED_CUDA_ERROR.code()
                            ? "the CUDA driver failed to copy; see the program's other errors and dmesg"
                            : "see the earlier lines";
            log.warn(
                    "one-sided communication of rank {} with rank {} has failed: {}. All its puts, gets and signals"
                            + " fail from now on",
                    rank,
                    other,
                    why);
        }
        return failed;
    }

    private long refuse(String call, long size, int to) {
        log.warn(
                "one-sided {} of {} bytes between rank {} and rank {} refused: a range is not in its window, a window"
                        + " is not registered, a signal is no aligned word of one, or there is no such rank or"
                        + " operation;"
                        + " there are ranks 0 to {}",
                call,
                size,
                rank,
                to,
                ranks - 1);
        return INVALID_ARGUMENT;
    }

    private long tooMany(int to) {
        log.warn(
                "more one-sided operations of rank {} with rank {} are in flight than Trigon can track; set"
                        + " NCCL_GIN_PROXY_QUEUE_SIZE and NCCL_RMA_PROXY_QUEUE_SIZE to 128 or less",
                rank,
                to);
        return INVALID_USAGE;
    }

    /**
     * A rank's ends to all others, in the order of their ranks.
     *
     * @param rank this one, which has no end
     */
    record Peers(int rank, List<Outgoing> outgoing, List<Incoming> incoming) {}
}
