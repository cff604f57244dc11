package trigon.transport;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.verbs.CompletionQueue;
import trigon.verbs.Errno;
import trigon.verbs.NativePoll;
import trigon.verbs.QueuePair;
import trigon.verbs.WorkCompletionStatus;
import trigon.verbs.WorkCompletions;

/**
 * One end of a connection, as NCCL knows it: messages go one way, from a {@link SendComm} to a {@link ReceiveComm}.
 *
 * <p>Made and closed by NCCL's service thread; the data path is used by NCCL's progress thread alone, between the two.
 * Registration may run beside the data path.
 */
abstract sealed class Comm permits SendComm, ReceiveComm {

    private static final Logger log = LoggerFactory.getLogger(Comm.class);

    /** The longest message ({@code NCCL_MAX_NET_SIZE}). */
    static final long MAX_MESSAGE_BYTES = 1L << 30;

    /** Before {@link #open}. */
    private static final WorkCompletions NONE = new WorkCompletions(0, 0);

    /** Its connection; with several stripes, the first. */
    final Connection connection;

    // the connection's, here to spare the data path its cache lines
    final Link link;
    final QueuePair queuePair;
    private final CompletionQueue completionQueue;

    /** The links that its memory has to be registered with, by stripe. */
    final Link[] links;

    final int maxMessageBytes;

    /** Its queue pairs, in the order that both ends know; one, where there are no stripes. */
    final Connection[] stripes;

    private final int stripeCount;

    /** Which of them has the completions that {@link #onSuccess} is called with. */
    int polled;

    private final Map<Long, RegisteredMemory> registrations = new ConcurrentHashMap<>();
    private long context;
    private WorkCompletions completions = NONE;
    private BiConsumer<Comm, Cause> whenTold = (_, _) -> {};

    /** What NCCL knows it by; set before NCCL learns of it. */
    long handle;

    /** Where its requests are, see {@link RequestRing}; set before NCCL learns of it. */
    long row;

    // 0, or minus the code of the NcclResult that every further call returns
    long failure;

    /** Why {@link #failure} is not 0. */
    private @Nullable Cause cause;

    /** NCCL has been told of it. */
    private boolean told;

    /** The thread of the first request, or of the call that told NCCL of the failure, by its identifier; 0: none yet. */
    private long thread;

    /** The peer is known to be gone, or this end to be given up, by any of the stripes; they know which. */
    volatile boolean lost;

    // counted on the data path, and the last ones when the comm is closed
    long messages;
    long bytes;

    /**
     * Why a comm is unusable.
     *
     * @param on what has failed
     * @param result what calls return since
     * @param what happened, as far as it was known then
     */
    record Cause(Connection on, NcclResult result, String what) {}

    /** Over one connection, or several, each a stripe. */
    Comm(List<Connection> connections) {
        stripes = connections.toArray(Connection[]::new);
        connection = connections.getFirst();
        link = connection.link();
        queuePair = connection.queuePair();
        completionQueue = connection.completionQueue();
        stripeCount = stripes.length;
        links = connections.stream().map(Connection::link).toArray(Link[]::new);
        this.maxMessageBytes = (int) Math.min(connection.maxMessageBytes(), MAX_MESSAGE_BYTES);
    }

    /**
     * Tells it what NCCL knows it and its context by, and gives its requests their place; once, before NCCL learns of it.
     *
     * @param onceTold hears of it when NCCL learns that the comm has failed; on the data path, so it returns at once
     */
    final void open(long ofContext, long as, CompletionBoard board, BiConsumer<Comm, Cause> onceTold) {
        context = ofContext;
        whenTold = onceTold;
        handle = as;
        row = board.open(as);
        completions = board.completions(as);
        RequestRing.open(row);
        if (stripeCount == 1) { // else the library would have to poll several
            completionQueue.nativePoll().ifPresent(poll -> CompletionBoard.pollWith(row, poll, completions.address()));
            CompletionBoard.letTake(row, requestOpcode());
        }
        for (Connection stripe : stripes) {
            stripe.whenLost(() -> lost = true);
        }
    }

    /** A new request; returns its handle. */
    final long begin(long sequence, int size) {
        long request = RequestHandle.of(handle, sequence);
        RequestRing.begin(row, RequestRing.slot(sequence), request, size);
        if (thread == 0) {
            thread = Thread.currentThread().threadId();
        }
        return request;
    }

    final long context() {
        return context;
    }

    /** Memory that was registered for this comm and not deregistered yet, by its handle. */
    final Map<Long, RegisteredMemory> registrations() {
        return registrations;
    }

    /** {@link NetPlugin#test} for one of this comm's requests. */
    final long test(long request) {
        int slot = RequestRing.slot(RequestHandle.sequence(request));
        int state = RequestRing.find(row, slot, request);
        if (state == RequestRing.FREE) {
            return -NcclResult.INVALID_ARGUMENT.code();
        }
        if (state != RequestRing.DONE) {
            progress();
            state = RequestRing.state(row, slot);
        }
        return switch (state) {
            case RequestRing.DONE -> {
                RequestRing.take(row, slot);
                yield RequestRing.size(row, slot);
            }
            case RequestRing.FAILED -> failure;
            default -> NetPlugin.NOT_DONE;
        };
    }

    /** A request succeeded; {@code index} is its completion. */
    abstract void onSuccess(WorkCompletions completions, int index);

    /** The opcode of completions that the entry library may take, see {@link CompletionBoard#TAKES}; 0 if it may not. */
    int requestOpcode() {
        return 0;
    }

    /** Takes account of the requests that the entry library has finished since; while the comm has its row, and nobody calls. */
    void settle() {}

    /** Takes what the devices have finished, some at a time; false if there was nothing, or the comm has failed. */
    final boolean progress() {
        if (failure != 0) {
            return false; // what comes now may be behind completions that were left
        }
        polled = 0;
        int polledByLibrary = CompletionBoard.takePolled(row);
        int count = polledByLibrary != 0 ? NativePoll.result(polledByLibrary) : completionQueue.poll(completions);
        boolean found = count > 0;
        take(connection, count);
        for (int stripe = 1; stripe < stripeCount && failure == 0; stripe++) {
            polled = stripe;
            count = stripes[stripe].completionQueue().poll(completions);
            found |= count > 0;
            take(stripes[stripe], count);
        }
        return found && failure == 0;
    }

    private void take(Connection from, int count) {
        for (int index = 0; index < count; index++) {
            if (completions.statusCode(index) == WorkCompletionStatus.SUCCESS_CODE) {
                onSuccess(completions, index);
                if (failure != 0) {
                    return; // what came with it does not count any more
                }
            } else {
                onError(from, index);
                return;
            }
        }
        if (count < 0) {
            fail(
                    from,
                    NcclResult.SYSTEM_ERROR,
                    "ibv_poll_cq failed with %s: the completion queue or its device is unusable; look at the kernel's log (dmesg), and restart the job"
                            .formatted(Errno.name(-count)));
        } else if (count == 0 && lost && from.givenUp() != null) {
            // a completion queue that has failed reports nothing any more
            fail(from, lossResult(from), from.loss());
        }
    }

    private void onError(Connection from, int index) {
        WorkCompletionStatus status = WorkCompletionStatus.ofCode(completions.statusCode(index));
        boolean tooLong = status == WorkCompletionStatus.LOCAL_LENGTH_ERROR;
        String what = "work request 0x%x failed: %s (status %d, vendor error %d): %s"
                .formatted(
                        completions.workRequestId(index),
                        status,
                        completions.statusCode(index),
                        completions.vendorError(index),
                        from.why(status));
        takeSuccessesOfOthers(from);
        fail(from, tooLong ? NcclResult.INVALID_USAGE : lossResult(from), what);
    }

    /** What came over the other stripes before is not lost with this one. */
    private void takeSuccessesOfOthers(Connection failed) {
        for (int stripe = 0; stripe < stripeCount; stripe++) {
            polled = stripe;
            boolean goesOn = stripes[stripe] != failed;
            while (goesOn) {
                int count = stripes[stripe].completionQueue().poll(completions);
                goesOn = count > 0;
                for (int index = 0; goesOn && index < count; index++) {
                    goesOn = failure == 0 && completions.statusCode(index) == WorkCompletionStatus.SUCCESS_CODE;
                    if (goesOn) {
                        onSuccess(completions, index);
                    }
                }
            }
        }
    }

    /** What a lost connection is to NCCL: the peer's or the network's fault, unless this end was given up. */
    private static NcclResult lossResult(Connection lost) {
        return Objects.requireNonNullElse(lost.givenUp(), NcclResult.REMOTE_ERROR);
    }

    /** The device refused a work request; the comm is unusable from now on. */
    final long failPosting(Connection on, String verb, int errno) {
        return fail(on, NcclResult.SYSTEM_ERROR, verb + " failed with " + Errno.name(errno));
    }

    /** A message and its receive do not fit; the comm is unusable from now on. */
    final long failMismatch(long sequence, int size, int tag, int capacity, int receiveTag) {
        return fail(
                connection,
                NcclResult.INVALID_USAGE,
                "message %d of %d bytes with tag %d meets a receive of %d bytes with tag %d"
                        .formatted(sequence, size, tag, capacity, receiveTag));
    }

    /** The peer has let go, or died; the comm is unusable from now on. */
    final long failPeerGone() {
        boolean found = true;
        while (found) {
            found = progress(); // what has come is received, however much it is
        }
        Connection lost = Arrays.stream(stripes)
                .filter(Connection::isPeerGone)
                .findFirst()
                .orElse(connection);
        return fail(lost, lossResult(lost), lost.loss());
    }

    // the end of the comm: the one place on the data path that logs and allocates
    final long fail(Connection where, NcclResult result, String what) {
        if (failure == 0) {
            failure = -result.code();
            RequestRing.failUnfinished(row);
            CompletionBoard.endWait(row);
            CompletionBoard.endPolling(row);
            log.warn("{}: {}. Requests not finished by then return {}", where, what, result);
            for (Connection stripe : stripes) {
                stripe.failed(what);
            }
            cause = new Cause(where, result, what);
        }
        return failure;
    }

    /**
     * Returns what a call of NCCL's returns, and takes note if that is how NCCL learns that the comm has failed. A failure that
     * NCCL has not asked about is none to it.
     */
    final long tell(long result) {
        Cause known = cause;
        if (known != null && !told && result == failure) {
            told = true;
            thread = Thread.currentThread().threadId();
            whenTold.accept(this, known);
        }
        return result;
    }

    /** The thread that moves its messages, by its identifier; 0: none so far. Racy on any other. */
    final long thread() {
        return thread;
    }

    /** What is asked of it from now on fails, unless it was finished before; its peer is told. Does not block. */
    final void giveUp(CommunicatorFailure failure) {
        for (Connection stripe : stripes) {
            stripe.giveUp(failure.result(), failure.words());
        }
    }

    /** After that; may block. */
    final void endQueuePairs() {
        for (Connection stripe : stripes) {
            stripe.endQueuePair();
        }
    }

    /** Ends the connection and frees everything, whatever is outstanding. */
    void close() {
        Arrays.stream(stripes).forEach(Connection::close);
        registrations.values().forEach(RegisteredMemory::close);
        registrations.clear();
        addTraffic();
    }

    /** Adds what went over it to its links' counters; once, at the end. */
    void addTraffic() {
        connection.link().traffic().add(messages, bytes);
    }
}
