package trigon.onesided.group;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.nccl.NcclResult;
import trigon.onesided.memory.DeviceMemory;
import trigon.onesided.memory.Window;
import trigon.onesided.memory.Windows;
import trigon.onesided.peer.Incoming;
import trigon.onesided.peer.Outgoing;
import trigon.onesided.peer.RequestPool;
import trigon.onesided.peer.SelfCopies;
import trigon.onesided.record.RecordLayout;

/**
 * A group's data path: what NCCL's progress thread calls. Calls come from one thread at a time; they neither wait,
 * allocate nor throw, and return what is negative for a failure: minus the code of an {@link NcclResult}. After a
 * failure every call returns it.
 */
public final class Traffic {

    /** {@code NCCL_GIN_SIGNAL_INC}: adds 1. */
    public static final int INCREMENT = 1;

    /** {@code NCCL_GIN_SIGNAL_ADD}: adds the value. */
    public static final int ADD = 2;

    /** In an operation's place: no signal. */
    public static final int NO_SIGNAL = 0;

    private static final Logger log = LoggerFactory.getLogger(Traffic.class);
    private static final int INVALID_ARGUMENT = -NcclResult.INVALID_ARGUMENT.code();
    private static final int REMOTE_ERROR = -NcclResult.REMOTE_ERROR.code();
    private static final String HAS_LEFT = "it has ended its part of the communicator (ncclCommDestroy) before;"
            + " let no rank end before the last put to it";
    private static final int INVALID_USAGE = -NcclResult.INVALID_USAGE.code();

    private final int rank;
    private final int ranks;
    private final Outgoing[] outgoing;
    private final Incoming[] incoming;
    private final SelfCopies self;
    private final Windows windows;
    private final RequestPool requests;
    private final DeviceMemory device;
    private final boolean usesDevice;
    private int failed;

    Traffic(
            int rank,
            int ranks,
            Outgoing[] outgoing,
            Incoming[] incoming,
            SelfCopies self,
            Windows windows,
            RequestPool requests,
            DeviceMemory device) {
        this.rank = rank;
        this.ranks = ranks;
        this.outgoing = outgoing;
        this.incoming = incoming;
        this.self = self;
        this.windows = windows;
        this.requests = requests;
        this.device = device;
        usesDevice = device.exists();
    }

    /** Whether it has come to its end. */
    public boolean hasFailed() {
        return failed != 0;
    }

    /** Index of a rank's ends; the own rank has none. */
    private int place(int other) {
        return other < rank ? other : other - 1;
    }

    /**
     * Copies to a rank's window, then adds to a signal there.
     *
     * @param source window, 0 where there is no data
     * @param signalOperation {@link #INCREMENT}, {@link #ADD} or {@link #NO_SIGNAL}
     * @return a request
     */
    public long put(
            long sourceOffset,
            long source,
            long size,
            long offset,
            long target,
            int to,
            long signalOffset,
            long signal,
            long value,
            int signalOperation) {
        if (failed != 0) {
            return failed;
        }
        Window from = size == 0 ? null : windows.find(source);
        Window into = size == 0 ? null : windows.find(target);
        Window signalled = signalOperation == NO_SIGNAL ? null : windows.find(signal);
        if (size < 0
                || to < 0
                || to >= ranks
                || signalOperation < NO_SIGNAL
                || signalOperation > ADD
                || (size > 0 && (from == null || into == null))
                || (from != null && !from.covers(sourceOffset, size))
                || (into != null && !into.covers(offset, size))
                || (signalOperation != NO_SIGNAL && (signalled == null || !signalled.hasWord(signalOffset)))) {
            return refuse("put", size, to);
        }
        long request = requests.begin();
        if (request == 0) {
            return tooMany(to);
        }
        enter();
        long result = to == rank
                ? putToSelf(
                        from,
                        sourceOffset,
                        into,
                        offset,
                        size,
                        signalled,
                        signalOffset,
                        value,
                        signalOperation,
                        request)
                : put(
                        from,
                        sourceOffset,
                        into,
                        offset,
                        size,
                        to,
                        signalled,
                        signalOffset,
                        value,
                        signalOperation,
                        request);
        leave();
        return result;
    }

    private long put(
            @Nullable Window from,
            long sourceOffset,
            @Nullable Window into,
            long offset,
            long size,
            int to,
            @Nullable Window signalled,
            long signalOffset,
            long value,
            int signalOperation,
            long request) {
        Outgoing out = outgoing[place(to)];
        if (incoming[place(to)].hasLeft()) {
            return fail(REMOTE_ERROR, to, HAS_LEFT);
        }
        boolean begun = out.put(
                from,
                sourceOffset,
                size,
                into == null ? RecordLayout.NO_WINDOW : into.id(),
                offset,
                into != null && into.isOfDeviceAt(to),
                signalled == null ? RecordLayout.NO_WINDOW : signalled.id(),
                signalOffset,
                signalOperation == INCREMENT ? 1 : value,
                request);
        return begun ? started(out, to, request) : tooMany(to);
    }

    private long putToSelf(
            @Nullable Window from,
            long sourceOffset,
            @Nullable Window into,
            long offset,
            long size,
            @Nullable Window signalled,
            long signalOffset,
            long value,
            int signalOperation,
            long request) {
        while (!self.isFree(signalled)) { // another rank's addition, which takes some microseconds
            int result = progressAll();
            if (result != 0) {
                return result;
            }
        }
        long addend = signalOperation == INCREMENT ? 1 : value;
        int result = self.put(from, sourceOffset, into, offset, size, signalled, signalOffset, addend);
        if (result != 0) {
            return fail(result, rank, null);
        }
        requests.finish(request);
        return request;
    }

    /**
     * Copies from a rank's window.
     *
     * @return a request
     */
    public long get(long remoteOffset, long remote, long size, long localOffset, long local, int from) {
        if (failed != 0) {
            return failed;
        }
        Window source = windows.find(remote);
        Window target = windows.find(local);
        if (size < 0
                || from < 0
                || from >= ranks
                || source == null
                || target == null
                || !source.covers(remoteOffset, size)
                || !target.covers(localOffset, size)) {
            return refuse("get", size, from);
        }
        long request = requests.begin();
        if (request == 0) {
            return tooMany(from);
        }
        enter();
        long result;
        if (from == rank) {
            result = putToSelf(source, remoteOffset, target, localOffset, size, null, 0, 0, NO_SIGNAL, request);
        } else {
            result = get(source, remoteOffset, size, target, localOffset, from, request);
        }
        leave();
        return result;
    }

    private long get(
            Window source, long remoteOffset, long size, Window target, long localOffset, int from, long request) {
        Outgoing out = outgoing[place(from)];
        if (incoming[place(from)].hasLeft()) {
            return fail(REMOTE_ERROR, from, HAS_LEFT);
        }
        return out.get(source.id(), remoteOffset, size, target.id(), localOffset, request)
                ? started(out, from, request)
                : tooMany(from);
    }

    /**
     * What was fetched is visible to the GPU once its request was done: by host memory at once, by the driver's copies
     * when they are over.
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

    /** Whether a request is done: 1 or 0, or a failure; one that was reported done is gone. */
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
                            : "the lines before say why";
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
                "more one-sided operations of rank {} with rank {} are under way than Trigon keeps; set"
                        + " NCCL_GIN_PROXY_QUEUE_SIZE and NCCL_RMA_PROXY_QUEUE_SIZE to 128 or less",
                rank,
                to);
        return INVALID_USAGE;
    }
}
