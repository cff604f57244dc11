package trigon.transport.session;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.handshake.message.EndFailure;
import trigon.nccl.NcclResult;
import trigon.nccl.NetPlugin;
import trigon.system.kernel.ProcessBarrier;
import trigon.transport.handle.RequestHandle;
import trigon.transport.path.Link;
import trigon.transport.path.PathChannel;
import trigon.transport.path.PathLoss;
import trigon.transport.path.RegisteredMemory;
import trigon.transport.protocol.Protocol;
import trigon.transport.protocol.ProtocolFailure;
import trigon.transport.request.Gate;
import trigon.transport.request.Requests;
import trigon.verbs.CompletionQueue;
import trigon.verbs.NativePoll;
import trigon.verbs.WorkCompletionStatus;
import trigon.verbs.WorkCompletions;

/**
 * A comm, as NCCL calls it: requests in their order, one way, from a {@link SendSession} to a {@link ReceiveSession},
 * over the paths that its protocol uses.
 *
 * <p>Made and closed by NCCL's service thread; the data path is used by NCCL's progress thread alone, between the two.
 * Registration may run beside the data path.
 */
public abstract sealed class Session permits SendSession, ReceiveSession {

    private static final Logger log = LoggerFactory.getLogger(Session.class);
    static final long INVALID_ARGUMENT = -NcclResult.INVALID_ARGUMENT.code();

    final Requests requests;
    private final long context;
    private Protocol protocol;
    PathChannel[] paths; // another array after each move
    final Gate gate;

    /** Tells whether it may go on over other paths; else it ends with its paths, and its gate is never shut. */
    final boolean resumable;

    /** Tells whether the entry library may move its messages at all. */
    private final boolean lanes;

    private @Nullable Failover failover;
    private int pathCount;

    // the first path's, here to spare the data path its cache lines
    private CompletionQueue completionQueue;
    private final WorkCompletions completions;

    private final Link[] links;
    private final Map<Long, RegisteredMemory> registrations = new ConcurrentHashMap<>();
    private final BiConsumer<Session, SessionFailure> onFailureReported;

    /** 0, or minus the code of the {@link NcclResult} that every further call returns. */
    long failure;

    /** Why {@link #failure} is not 0. */
    private @Nullable SessionFailure cause;

    private SessionState state = SessionState.RUNNING;

    /** A path is lost; it knows why. */
    volatile boolean lost;

    /**
     * Takes paths that both ends have in that order, all for that protocol.
     *
     * @param context NCCL's, by its handle
     * @param requests the session's own
     * @param resumable whether it may go on over other paths
     * @param onFailureReported hears of it when NCCL learns that the session has failed; on the data path, so it
     *     returns at once
     */
    Session(
            long context,
            List<PathChannel> paths,
            Protocol protocol,
            Requests requests,
            boolean resumable,
            BiConsumer<Session, SessionFailure> onFailureReported) {
        this.context = context;
        this.paths = paths.toArray(PathChannel[]::new);
        this.protocol = protocol;
        this.requests = requests;
        this.onFailureReported = onFailureReported;
        pathCount = paths.size();
        completionQueue = paths.getFirst().completionQueue();
        completions = requests.completions();
        links = paths.stream().map(PathChannel::link).toArray(Link[]::new);
        gate = requests.gate();
        this.resumable = resumable;
        lanes = requests.hasLane() && (!resumable || ProcessBarrier.isAvailable());
        letLibraryIn(); // before anybody can call, or lose a path
    }

    /** Lets the entry library move messages, if they go as usual. */
    private void letLibraryIn() {
        if (goesAsUsual()) {
            gate.openToLibrary();
            lookForLoss();
        }
    }

    /** For who is inside of the gate, or has shut it. */
    private boolean goesAsUsual() {
        return lanes && state == SessionState.RUNNING && failure == 0 && !lost && protocol.isReadyForLibrary();
    }

    /** After the gate was opened to the library: who loses a path asks after it says so, so one of both does. */
    private void lookForLoss() {
        if (lost) {
            gate.ask();
        }
    }

    private void become(SessionState next) {
        state = state.become(next);
        if (next != SessionState.RUNNING) {
            gate.ask();
        }
    }

    final Protocol protocol() {
        return protocol;
    }

    /** Has its path's failures looked at from now on. Before its first request. */
    public final void setFailover(Failover by) {
        failover = by;
    }

    /** Tells whether the data path may come in, to {@link #leave} afterwards. */
    final boolean enter() {
        return !resumable || gate.enter();
    }

    final void leave() {
        letLibraryIn();
        if (resumable) {
            gate.leave();
        }
    }

    /** The data path may come in again, after {@link Gate#close}. */
    final void openGate() {
        gate.open(goesAsUsual());
        lookForLoss();
    }

    /** Goes on over other paths, by a protocol that has been led there; over as many links as at first. */
    void use(List<PathChannel> next, List<Link> over, Protocol by) {
        protocol = by;
        paths = next.toArray(PathChannel[]::new);
        pathCount = paths.length;
        completionQueue = paths[0].completionQueue();
        Arrays.setAll(links, over::get);
        repeat();
    }

    private void repeat() {
        int left = protocol.repeat();
        if (left < 0) {
            failByProtocol();
            return;
        }
        become(left > 0 ? SessionState.REPEATING : SessionState.RUNNING);
    }

    /** Its paths are of no use any more, unless it has failed anyhow: {@link #use} is to give it others. */
    final void interrupt() {
        if (!state.hasFailed()) {
            become(SessionState.INTERRUPTED);
        }
    }

    final SessionState state() {
        return state;
    }

    /** Notices from now on when a path is lost. */
    public final void watchPaths() {
        Arrays.stream(paths)
                .forEach(path -> path.whenLost(() -> {
                    lost = true;
                    gate.ask();
                }));
    }

    /** NCCL's context, by its handle. */
    public final long context() {
        return context;
    }

    /** The links of its paths; the array stands for the session, see {@link RegisteredMemory#isOf}. */
    public final Link[] links() {
        return links;
    }

    /** Memory that was registered for this session and not deregistered yet, by its handle. */
    public final Map<Long, RegisteredMemory> registrations() {
        return registrations;
    }

    /** Tells whether a request may reach the protocol: 1 if so, else what it gets instead. */
    final long admit() {
        if (lost && failure == 0) {
            failLost(); // SoftRoCE would keep a receive for ever
        }
        return failure != 0 ? tell() : state == SessionState.INTERRUPTED ? NetPlugin.TRY_AGAIN : 1;
    }

    /** A request has begun: notes whose thread it is. */
    final long begun(long request) {
        if (requests.thread() == 0) {
            requests.setThread();
        }
        return request;
    }

    /** {@link NetPlugin#test} for one of this session's requests. */
    public final long test(long request) {
        if (!enter()) {
            return NetPlugin.NOT_DONE;
        }
        try {
            return testInside(request);
        } finally {
            leave();
        }
    }

    private long testInside(long request) {
        int slot = Requests.slot(RequestHandle.sequence(request));
        int state = requests.find(slot, request);
        if (state == Requests.FREE) {
            return testOther(request);
        }
        if (state != Requests.DONE) {
            progress();
            if (failure == 0 && this.state != SessionState.INTERRUPTED) {
                protocol.settle();
            }
            state = requests.state(slot);
        }
        return switch (state) {
            case Requests.DONE -> {
                requests.take(slot);
                yield requests.size(slot);
            }
            case Requests.FAILED -> tell();
            default -> NetPlugin.NOT_DONE;
        };
    }

    /** {@link NetPlugin#test} of a request that is none of its messages. */
    long testOther(long request) {
        return INVALID_ARGUMENT;
    }

    /** Prepares flushes for the links over which the session goes on; the data path is kept out. May block. */
    void moveFlushes(List<Link> links) {}

    /** Takes what the devices have finished, some at a time; false if there was nothing, or the session has failed. */
    final boolean progress() {
        if (state == SessionState.INTERRUPTED && lost) {
            failByLoss(); // nothing more completes
        }
        if (failure != 0 || state == SessionState.INTERRUPTED) {
            return false; // what comes now may be behind completions that were left
        }
        if (state == SessionState.REPEATING) {
            repeat();
        }
        int polledByLibrary = requests.takePolled();
        int count = polledByLibrary != 0 ? NativePoll.result(polledByLibrary) : completionQueue.poll(completions);
        boolean found = count > 0;
        take(0, polledByLibrary != 0 ? requests.taken() : 0, count);
        for (int path = 1; path < pathCount && failure == 0; path++) {
            count = paths[path].completionQueue().poll(completions);
            found |= count > 0;
            take(path, 0, count);
        }
        return found && failure == 0;
    }

    /** Takes account of completions, from one on. */
    private void take(int path, int from, int count) {
        for (int index = from; index < count; index++) {
            if (completions.statusCode(index) != WorkCompletionStatus.SUCCESS_CODE) {
                if (state != SessionState.INTERRUPTED) {
                    failBy(path, index);
                }
                if (failure != 0) {
                    return;
                }
            } else if (!protocol.succeeded(path, completions, index)) {
                failByProtocol();
                return; // what came with it does not count any more
            }
        }
        if (count < 0) {
            String what = FailureWords.ofPoll(count);
            if (!isInterruptedBy(paths[path], what)) {
                fail(paths[path], NcclResult.SYSTEM_ERROR, what + ", and restart the job");
            }
        } else if (count == 0 && lost && paths[path].loss() instanceof PathLoss.Here here) {
            // a completion queue that has failed reports nothing any more
            fail(paths[path], here.result(), here.words());
        }
    }

    /** A work request has failed. */
    private void failBy(int path, int index) {
        PathChannel failed = paths[path];
        WorkCompletionStatus status = WorkCompletionStatus.ofCode(completions.statusCode(index));
        String what = FailureWords.ofRequest(failed, status, completions, index);
        if (status.isOfPath() && isInterruptedBy(failed, what)) {
            return;
        }
        takeSuccessesOfOthers(path);
        fail(failed, FailureWords.result(failed, status), what);
    }

    /** Tells whether the path's failure is taken care of; then there is nothing to be told until it is over. */
    private boolean isInterruptedBy(PathChannel path, String what) {
        if (failover != null && !lost && failover.recoverFrom(path, what)) {
            interrupt();
        }
        return state == SessionState.INTERRUPTED;
    }

    /** Takes what came over the other paths before: it is not lost with this one. */
    private void takeSuccessesOfOthers(int failed) {
        for (int path = 0; path < pathCount; path++) {
            boolean goesOn = path != failed;
            while (goesOn) {
                int count = paths[path].completionQueue().poll(completions);
                goesOn = count > 0;
                for (int index = 0; goesOn && index < count; index++) {
                    goesOn = failure == 0
                            && completions.statusCode(index) == WorkCompletionStatus.SUCCESS_CODE
                            && protocol.succeeded(path, completions, index);
                }
            }
        }
    }

    /** The protocol has come to its end; the session is unusable from now on. */
    final long failByProtocol() {
        ProtocolFailure why = protocol.failure();
        if (why == null) {
            throw new IllegalStateException("the protocol has not failed");
        }
        return fail(paths[why.path()], why.result(), why.words());
    }

    /** A path is lost; the session is unusable from now on. */
    final void failLost() {
        while (progress()) {} // what has come is received, however much it is
        failByLoss();
    }

    private void failByLoss() {
        for (PathChannel path : paths) {
            PathLoss loss = path.loss();
            if (loss != null) {
                fail(path, loss.result(), loss.words());
            }
        }
        fail(paths[0], NcclResult.SYSTEM_ERROR, "a path that was in use before is lost");
    }

    // the end of the session: the one place on the data path that logs and allocates
    final long fail(PathChannel on, NcclResult result, String what) {
        if (failure == 0) {
            failure = -result.code();
            become(SessionState.FAILED);
            requests.failUnfinished();
            log.warn("{}: {}. Requests not finished by then return {}", on, what, result);
            EndFailure toPeers = new EndFailure(EndFailure.Scope.CONNECTION, what);
            for (PathChannel path : paths) {
                path.failed(toPeers);
            }
            cause = new SessionFailure(on, result, what);
        }
        return failure;
    }

    /**
     * Returns what a call of NCCL's returns, and takes note that this is how NCCL learns that the session has failed. A
     * failure that NCCL has not asked about is none to it.
     */
    final long tell() {
        SessionFailure known = cause;
        if (known != null && state != SessionState.REPORTED) {
            become(SessionState.REPORTED);
            requests.setThread();
            onFailureReported.accept(this, known);
        }
        return failure;
    }

    /** The thread that moves its messages, by a number of it; 0: none so far. */
    public final long thread() {
        return requests.thread();
    }

    /** Makes requests fail from now on, unless they were finished before, and tells the peer. Does not block. */
    public final void giveUp(NcclResult result, EndFailure why) {
        PathChannel[] given = null;
        while (!Arrays.equals(given, paths)) { // again if it moves meanwhile, which the paths' own locks show
            given = paths;
            for (PathChannel path : given) {
                path.giveUp(result, why);
            }
        }
    }

    /** After that; may block. */
    public final void endQueuePairs() {
        Arrays.stream(paths).forEach(PathChannel::endQueuePair);
    }

    /**
     * Nothing more is asked of it, and nobody touches its requests any more: neither its failover nor the entry
     * library. All that it has finished is counted. May block.
     */
    public final void end() {
        if (failover != null) {
            failover.close();
        }
        requests.close();
    }

    /** Frees everything, whatever is outstanding; after {@link #end}. */
    public void close() {
        Arrays.stream(paths).forEach(PathChannel::close);
        Arrays.stream(paths).forEach(path -> path.link().begin(() -> {}).join()); // no peer finds its memory gone
        protocol.close();
        registrations.values().forEach(RegisteredMemory::close);
        registrations.clear();
    }
}
