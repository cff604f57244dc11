package trigon.software.requester;

import org.jspecify.annotations.Nullable;
import trigon.software.connection.OutboundStream;
import trigon.software.lanes.OutgoingLanes;
import trigon.software.lanes.SentPieces;
import trigon.software.memory.SoftwareMemoryRegion;
import trigon.software.queue.SendQueue;
import trigon.software.wire.WireFormat;
import trigon.verbs.SendFlag;
import trigon.verbs.WorkCompletionStatus;

/**
 * Begins with send work requests, in their order: encodes each as a request on the queue pair's own connection, or has
 * it go on the lanes; or notes why it fails at this end. Used under the queue pair's lock.
 */
final class RequestEncoder {

    /** Longer messages have no tail: the kernel acknowledges a full segment as soon as it comes. */
    private static final int TAIL_LIMIT = 1 << 10;

    private final RequestingQueuePair queuePair;
    private final SendQueue queue;
    private final OutstandingRequests outstanding;
    private final OutgoingLanes lanes;

    private int maxReadAtomic;
    /** Below it, what goes on the queue pair's own connection has been given to the socket. */
    private long written;
    /** How many requests before {@code next} take a receive of the peer. */
    private int receivesTaken;
    /** It has sent something. */
    private boolean begun;
    /** Status with which the request at {@code next} fails once all before it are done. */
    private @Nullable WorkCompletionStatus failure;

    RequestEncoder(
            RequestingQueuePair queuePair, SendQueue queue, OutstandingRequests outstanding, OutgoingLanes lanes) {
        this.queuePair = queuePair;
        this.queue = queue;
        this.outstanding = outstanding;
        this.lanes = lanes;
    }

    // ---- life cycle

    /**
     * READY_TO_SEND.
     *
     * @param mostReads how many READs may be outstanding
     */
    void start(int mostReads) {
        maxReadAtomic = mostReads;
    }

    /** RESET, after that of the outstanding requests. */
    void reset() {
        written = outstanding.head();
        receivesTaken = 0;
        begun = false;
        failure = null;
    }

    /** Whether it has sent something. */
    boolean hasBegun() {
        return begun;
    }

    /** Status with which the next request fails once all before it are done; null if it does not. */
    @Nullable
    WorkCompletionStatus failure() {
        return failure;
    }

    /** The next request fails with that status. */
    void fail(WorkCompletionStatus status) {
        failure = status;
        // not from here: this runs inside a write to the connection that failing closes
        queuePair.workLater();
    }

    // ---- what goes out

    boolean mayStartNext() {
        long next = outstanding.next();
        if (failure != null || next == queue.tail() || lanes.areBroken()) {
            return false;
        }
        if (outstanding.areInPieces() && !mayGoInPieces(next)) {
            return false; // its answer could come before the lanes have said that they are done
        }
        if (outstanding.reads() == 0) {
            return true;
        }
        boolean fenced = (queue.flags(next) & SendFlag.FENCE) != 0;
        return !fenced && (!outstanding.isRead(next) || outstanding.reads() < maxReadAtomic);
    }

    /** Encodes the request at {@code next}, or notes why it fails. */
    void startNext(RequestStream stream) {
        long index = outstanding.next();
        int length = queue.length(index);
        boolean reads = outstanding.isRead(index);
        boolean inline = (queue.flags(index) & SendFlag.INLINE) != 0;
        SoftwareMemoryRegion region = null;
        if (length > 0 && !inline) {
            region = queuePair.memory().local(queue.localKey(index), queue.localAddress(index), length, reads);
            if (region == null) {
                fail(WorkCompletionStatus.LOCAL_PROTECTION_ERROR);
                return;
            }
        }
        if (reads && maxReadAtomic == 0) {
            fail(WorkCompletionStatus.LOCAL_QP_OPERATION_ERROR);
            return;
        }
        int opcode = opcodeOnWire(index);
        int psn = outstanding.psn(index);
        boolean inPieces = (length == 0 || !inline) && goesInPieces(index, length);
        queue.setInPieces(index, inPieces);
        outstanding.begin();
        begun = true;
        if (inPieces) {
            int immediate = (int) queue.operand(index);
            lanes.send(region, queue.localAddress(index), opcode, psn, receivesTaken, length, immediate);
        } else {
            encode(stream, index, opcode, psn, region);
        }
        if (WireFormat.takesReceive(queue.opcode(index))) {
            receivesTaken++;
        }
    }

    private void encode(RequestStream stream, long index, int opcode, int psn, @Nullable SoftwareMemoryRegion region) {
        int length = queue.length(index);
        boolean reads = outstanding.isRead(index);
        boolean hasTail = !reads && length <= TAIL_LIMIT;
        stream.putRequest(
                hasTail ? opcode | WireFormat.WITH_TAIL : opcode,
                psn,
                length,
                queue.remoteAddress(index),
                queue.remoteKey(index),
                queue.operand(index));
        if (!reads) {
            putPayload(stream, region, queue.localAddress(index), length);
        }
        if (hasTail) {
            stream.putTail();
        }
    }

    private static void putPayload(
            RequestStream stream, @Nullable SoftwareMemoryRegion region, long address, int length) {
        if (region == null || length <= OutboundStream.COPY_LIMIT) {
            stream.putPayload(address, length);
        } else {
            stream.sendPayload(region, address, length);
        }
    }

    private int opcodeOnWire(long index) {
        int opcode = queue.opcode(index);
        boolean injected = outstanding.isInjected(index);
        if (injected && !outstanding.isPatient(index)) {
            return opcode | WireFormat.UNANSWERED;
        }
        if (outstanding.isPatient(index)) {
            opcode |= WireFormat.PATIENT;
        }
        return outstanding.isSignaled(index) && !injected ? opcode | WireFormat.ACKNOWLEDGE_SOON : opcode;
    }

    /**
     * Whether a message goes on the lanes. They are opened with the first that is long enough. Shorter ones go there
     * behind one that is still on its way there: the receiver needs that one first, and this thread is spared a system
     * call.
     */
    private boolean goesInPieces(long index, int length) {
        boolean followsPieces = index > outstanding.head() && queue.isInPieces(index - 1) && !isWritten(index - 1);
        if (!mayGoInPieces(index) || !(followsPieces || lanes.areFor(length))) {
            return false;
        }
        if (!lanes.areReady()) {
            lanes.open(outstanding.firstPsn());
            return false;
        }
        return index - outstanding.head() < SentPieces.MESSAGES - 1;
    }

    /** Whether nobody counts the time until a request is complete. */
    private boolean mayGoInPieces(long index) {
        return outstanding.isInjected(index) || outstanding.isPatient(index);
    }

    /** The request that was begun last is not, after all. */
    void takeBackLast() {
        long index = outstanding.takeBack();
        if (queue.isInPieces(index)) {
            lanes.forget(outstanding.psn(index));
        }
    }

    /** The memory that the last request's payload comes from was deregistered while it was sent. */
    void onPayloadLost() {
        takeBackLast();
        fail(WorkCompletionStatus.LOCAL_PROTECTION_ERROR);
    }

    // ---- what has gone out

    /** Looks how much of what was encoded has been given to the socket. */
    void noteWritten(RequestStream stream) {
        if (stream.isWritten()) {
            onAllWritten();
        } else if (stream.isWrittenButForPayload()) {
            written = outstanding.next() - 1; // nothing is begun behind a payload
        }
    }

    /** All that has been begun has been given to the socket, as far as it goes there. */
    void onAllWritten() {
        written = outstanding.next();
    }

    /** Whether all of a request has been given to the sockets. */
    boolean isWritten(long index) {
        return queue.isInPieces(index) ? lanes.haveSent(outstanding.psn(index), queue.length(index)) : index < written;
    }
}
