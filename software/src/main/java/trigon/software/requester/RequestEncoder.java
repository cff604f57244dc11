package trigon.software.requester;

import org.jspecify.annotations.Nullable;
import trigon.software.memory.SoftwareMemoryRegion;
import trigon.software.queue.SendQueue;
import trigon.software.wire.WireFormat;
import trigon.verbs.SendFlag;
import trigon.verbs.WorkCompletionStatus;

/**
 * Begins with send work requests, in their order: encodes each, or notes why it fails at this end. Used under the queue
 * pair's lock.
 */
final class RequestEncoder {

    /**
     * Longer messages have no tail, and none has one behind those: the kernel acknowledges a full segment as soon as it
     * comes.
     */
    private static final int TAIL_LIMIT = 1 << 10;

    private final RequestingQueuePair queuePair;
    private final SendQueue queue;
    private final OutstandingRequests outstanding;
    /** Below it, all has been given to the socket. */
    private long written;
    /** Length of the request that was begun last. */
    private int lastLength;
    /** It has sent something. */
    private boolean begun;
    /** Status with which the request at {@code next} fails once all before it are done. */
    private @Nullable WorkCompletionStatus failure;

    RequestEncoder(RequestingQueuePair queuePair, SendQueue queue, OutstandingRequests outstanding) {
        this.queuePair = queuePair;
        this.queue = queue;
        this.outstanding = outstanding;
    }

    // ---- life cycle

    /** RESET, after that of the outstanding requests. */
    void reset() {
        written = outstanding.head();
        lastLength = 0;
        begun = false;
        failure = null;
    }

    /** Returns whether it has sent something. */
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
        return failure == null && outstanding.next() != queue.tail();
    }

    /** Returns whether a payload of that length is to be written by another thread. */
    boolean isLeftToMover(int bytes) {
        return queuePair.lock().isLeftToMover(bytes);
    }

    /** Encodes the request at {@code next}, or notes why it fails. */
    void startNext(RequestStream stream) {
        long index = outstanding.next();
        int length = queue.length(index);
        boolean inline = (queue.flags(index) & SendFlag.INLINE) != 0;
        SoftwareMemoryRegion region = null;
        if (length > 0 && !inline) {
            region = queuePair.memory().local(queue.localKey(index), queue.localAddress(index), length, false);
            if (region == null) {
                fail(WorkCompletionStatus.LOCAL_PROTECTION_ERROR);
                return;
            }
        }
        boolean hasTail = Math.max(length, lastLength) <= TAIL_LIMIT;
        int opcode = opcodeOnWire(index);
        stream.putRequest(
                hasTail ? opcode | WireFormat.WITH_TAIL : opcode,
                outstanding.psn(index),
                length,
                queue.remoteAddress(index),
                queue.remoteKey(index),
                queue.operand(index));
        if (region == null || length <= RequestStream.COPY_LIMIT) {
            stream.putPayload(queue.localAddress(index), length);
        } else {
            stream.sendPayload(region, queue.localAddress(index), length);
        }
        stream.check();
        if (hasTail) {
            stream.putTail();
        }
        outstanding.begin();
        begun = true;
        lastLength = length;
    }

    private int opcodeOnWire(long index) {
        int opcode = queue.opcode(index);
        if (outstanding.isPatient(index)) {
            return opcode | WireFormat.PATIENT | WireFormat.ACKNOWLEDGE_SOON;
        }
        if (outstanding.isInjected(index)) {
            return opcode | WireFormat.UNANSWERED;
        }
        return outstanding.isSignaled(index) ? opcode | WireFormat.ACKNOWLEDGE_SOON : opcode;
    }

    /** The memory that the last request's payload comes from was deregistered while it was sent. */
    void onPayloadLost() {
        outstanding.takeBack();
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

    /** All that has been begun has been given to the socket. */
    void onAllWritten() {
        written = outstanding.next();
    }

    /** Returns whether all of a request has been given to the socket. */
    boolean isWritten(long index) {
        return index < written;
    }
}
