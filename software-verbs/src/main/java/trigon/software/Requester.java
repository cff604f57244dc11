package trigon.software;

import io.netty.channel.ConnectTimeoutException;
import io.netty.util.concurrent.ScheduledFuture;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.verbs.Memory;
import trigon.verbs.SendFlag;
import trigon.verbs.WorkCompletionStatus;

/**
 * The sending half of a queue pair: turns send work requests into messages, and responses into completions. Owned by
 * the event loop.
 *
 * <p>Requests lie in the send queue in the order {@code head <= next <= tail}: below {@code next} they have been begun,
 * and from {@code head} on they are not acknowledged.
 */
final class Requester {

    private static final Logger log = LoggerFactory.getLogger(Requester.class);

    private static final int RECONNECT_MILLIS = 100;

    private final SoftwareQueuePair queuePair;
    private final SendQueue queue;
    private final OrderedCopy readCopy = new OrderedCopy();

    private long head;
    private long next;
    /** The request that has {@code firstPsn}. */
    private long base;

    private int firstPsn;
    private int readsOutstanding;
    private int maxReadAtomic;
    private long retryNanos;
    private int rnrRetry;

    private @Nullable RequestConnection connection;
    private boolean connecting;
    /** Grows when the connection is given up, so that a late outcome of connecting is recognized. */
    private int epoch;

    private boolean lost;
    /** Status with which the request at {@code next} fails once all before it are done. */
    private @Nullable WorkCompletionStatus localFailure;

    private long readOffset;
    private @Nullable SoftwareMemoryRegion readTarget;

    private long progressAt;
    private long silenceAllowance;
    private @Nullable ScheduledFuture<?> retryTimer;
    private @Nullable ScheduledFuture<?> rnrTimer;

    Requester(SoftwareQueuePair queuePair, SendQueue queue) {
        this.queuePair = queuePair;
        this.queue = queue;
    }

    // ---- life cycle

    /** READY_TO_SEND: connects ahead of the first request. */
    void start(int sendPsn, int maxReadAtomic, long retryNanos, int rnrRetry) {
        firstPsn = sendPsn;
        this.maxReadAtomic = maxReadAtomic;
        this.retryNanos = retryNanos;
        this.rnrRetry = rnrRetry;
        connect();
    }

    /** Ends the connection; nothing is read or written for this queue pair any more. */
    void stop() {
        epoch++;
        connecting = false;
        RequestConnection current = connection;
        connection = null;
        if (current != null) {
            current.close();
        }
        readTarget = null;
        retryTimer = cancelled(retryTimer);
        rnrTimer = cancelled(rnrTimer);
    }

    /** Completes all requests that are left as flushed. */
    void flush() {
        long tail = queue.tail();
        while (head < tail) {
            complete(WorkCompletionStatus.WR_FLUSHED);
        }
        next = head;
        queue.release(head);
    }

    /** RESET: forgets everything, without completions. */
    void reset() {
        stop();
        head = queue.tail();
        next = head;
        queue.release(head);
        readsOutstanding = 0;
        readOffset = 0;
        lost = false;
        localFailure = null;
        base = head;
    }

    private static @Nullable ScheduledFuture<?> cancelled(@Nullable ScheduledFuture<?> timer) {
        if (timer != null) {
            timer.cancel(false);
        }
        return null;
    }

    // ---- connection

    private void connect() {
        connecting = true;
        queuePair.connect(this, epoch);
    }

    /** The TCP connection is there. */
    void onConnected(RequestConnection established, int attemptEpoch) {
        if (attemptEpoch != epoch) {
            established.close();
            return;
        }
        connecting = false;
        connection = established;
        queuePair.putPreamble(established.stream(), psn(head));
        onProgress();
        established.stream().ring();
        work();
    }

    /** The TCP connection could not be made. */
    void onConnectFailed(InetSocketAddress peer, Throwable cause, int attemptEpoch) {
        if (attemptEpoch != epoch) {
            return;
        }
        connecting = false;
        log.debug("{} cannot connect to {}: {}", queuePair, peer, cause.getMessage());
        if (head == queue.tail()) {
            return; // the next request tries again
        }
        boolean refused = cause instanceof ConnectException && !(cause instanceof ConnectTimeoutException);
        if (refused) {
            fail(WorkCompletionStatus.RETRY_EXCEEDED, "cannot connect to " + peer + ": " + cause.getMessage());
        } else {
            connectLater(); // until the retry timer ends it
        }
    }

    private void connectLater() {
        connecting = true;
        int attemptEpoch = epoch;
        var _ = queuePair
                .loop()
                .schedule(
                        () -> {
                            if (attemptEpoch == epoch) {
                                connect();
                            }
                        },
                        RECONNECT_MILLIS,
                        TimeUnit.MILLISECONDS);
    }

    void onConnectionClosed(RequestConnection closed) {
        if (closed != connection) {
            return;
        }
        connection = null;
        lost = true;
        log.debug("{} lost the connection to its peer", queuePair);
        work();
    }

    // ---- requests

    /** Looks for something to do: after posts, and whenever something that was waited for has happened. */
    void work() {
        if (head == queue.tail()) {
            return;
        }
        if (localFailure != null && head == next) {
            fail(localFailure, "a request does not fit the local memory regions or the queue pair");
            return;
        }
        if (lost) {
            fail(WorkCompletionStatus.RETRY_EXCEEDED, "the peer has closed the connection");
            return;
        }
        armRetryTimer();
        RequestConnection current = connection;
        if (current != null) {
            current.stream().ring();
        } else if (!connecting) {
            connect();
        }
    }

    boolean mayStartNext() {
        if (localFailure != null || next == queue.tail()) {
            return false;
        }
        if (readsOutstanding == 0) {
            return true;
        }
        boolean fenced = (queue.flags(next) & SendFlag.FENCE) != 0;
        return !fenced && (!isReadOrAtomic(next) || readsOutstanding < maxReadAtomic);
    }

    /** Encodes the request at {@code next}, or notes why it fails. */
    void startNext(RequestStream stream) {
        long index = next;
        int length = queue.length(index);
        boolean reads = isReadOrAtomic(index);
        boolean inline = (queue.flags(index) & SendFlag.INLINE) != 0;
        SoftwareMemoryRegion region = null;
        if (length > 0 && !inline) {
            region = localRegion(index, reads);
            if (region == null) {
                failLocally(WorkCompletionStatus.LOCAL_PROTECTION_ERROR);
                return;
            }
        }
        if (reads && maxReadAtomic == 0) {
            failLocally(WorkCompletionStatus.LOCAL_QP_OPERATION_ERROR);
            return;
        }
        stream.putRequest(
                queue.opcode(index),
                psn(index),
                length,
                queue.remoteAddress(index),
                queue.remoteKey(index),
                queue.immediate(index),
                queue.addend(index));
        next++;
        if (reads) {
            readsOutstanding++;
        } else if (region == null || length <= OutboundStream.COPY_LIMIT) {
            stream.putPayload(queue.localAddress(index), length);
        } else {
            stream.sendPayload(region, queue.localAddress(index), length);
        }
    }

    private @Nullable SoftwareMemoryRegion localRegion(long index, boolean write) {
        return queuePair
                .memoryRegions()
                .local(
                        queuePair.protectionDomain(),
                        queue.localKey(index),
                        queue.localAddress(index),
                        queue.length(index),
                        write);
    }

    private boolean isReadOrAtomic(long index) {
        int opcode = queue.opcode(index);
        return opcode == WireFormat.READ || opcode == WireFormat.FETCH_AND_ADD;
    }

    private void failLocally(WorkCompletionStatus status) {
        localFailure = status;
        // not from here: this runs inside a write to the connection that failing closes
        queuePair.wake();
    }

    /** The memory that the last request's payload comes from was deregistered while it was sent. */
    void onPayloadLost() {
        next--;
        failLocally(WorkCompletionStatus.LOCAL_PROTECTION_ERROR);
    }

    // ---- responses

    /** Handles a response; returns how many bytes of payload follow it. */
    int onResponse(int kind, int detail, int psn, long value) {
        onProgress();
        switch (kind) {
            case WireFormat.ACK -> {
                // also says that waiting for a receive is over
                rnrTimer = cancelled(rnrTimer);
                silenceAllowance = 0;
                acknowledge(psn);
            }
            case WireFormat.NAK -> {
                if (acknowledge(psn - 1)) {
                    failAs(detail);
                }
            }
            case WireFormat.RECEIVER_NOT_READY -> {
                if (acknowledge(psn - 1)) {
                    receiverNotReady(detail);
                }
            }
            case WireFormat.READ_DATA -> {
                if (acknowledge(psn - 1)) {
                    return startReadData(psn, value);
                }
            }
            case WireFormat.ATOMIC_RESULT -> {
                if (acknowledge(psn - 1)) {
                    atomicResult(psn, value);
                }
            }
            default -> badResponse("of unknown kind " + kind);
        }
        return 0;
    }

    /** Completes all requests up to that PSN. False if that is not possible, and the queue pair has failed. */
    private boolean acknowledge(int psn) {
        int distance = (psn - psn(head)) & WireFormat.PSN_MASK;
        if (distance == WireFormat.PSN_MASK) {
            return true; // the one before head: nothing new
        }
        long end = head + distance + 1;
        if (end > next - (isSendingPayload() ? 1 : 0)) {
            return badResponse("acknowledges what was not sent");
        }
        while (head < end) {
            if (isReadOrAtomic(head)) {
                return badResponse("passes over a READ or atomic");
            }
            complete(WorkCompletionStatus.SUCCESS);
        }
        queue.release(head);
        return true;
    }

    private boolean isSendingPayload() {
        return connection != null && connection.stream().payloadLeft() > 0;
    }

    /** Begins, or goes on with, the data of the READ at {@code head}. */
    private int startReadData(int psn, long bytes) {
        long total = queue.length(head);
        if (!isOutstanding(WireFormat.READ, psn) || bytes < 0 || bytes > total - readOffset) {
            badResponse("is not the data of the oldest READ");
            return 0;
        }
        if (readOffset == 0) {
            readTarget = total == 0 ? null : localRegion(head, true);
            if (readTarget == null && total > 0) {
                fail(WorkCompletionStatus.LOCAL_PROTECTION_ERROR, "the target of a READ was deregistered");
                return 0;
            }
            readCopy.start(queue.localAddress(head), total);
        }
        if (bytes == 0) {
            finishReadData();
        }
        return (int) bytes;
    }

    void onReadData(long at, int bytes, boolean lastOfResponse) {
        SoftwareMemoryRegion target = readTarget;
        if (target == null || !target.isOpen()) {
            fail(WorkCompletionStatus.LOCAL_PROTECTION_ERROR, "the target of a READ was deregistered");
            return;
        }
        readCopy.accept(at, bytes);
        readOffset += bytes;
        if (lastOfResponse) {
            finishReadData();
        }
    }

    private void finishReadData() {
        if (readOffset == queue.length(head)) {
            readOffset = 0;
            readTarget = null;
            finishReadOrAtomic();
        }
    }

    private void atomicResult(int psn, long before) {
        if (!isOutstanding(WireFormat.FETCH_AND_ADD, psn)) {
            badResponse("is not the result of the oldest atomic");
        } else if (localRegion(head, true) == null) {
            fail(WorkCompletionStatus.LOCAL_PROTECTION_ERROR, "the target of an atomic was deregistered");
        } else {
            Memory.putLong(queue.localAddress(head), before);
            finishReadOrAtomic();
        }
    }

    private void finishReadOrAtomic() {
        readsOutstanding--;
        complete(WorkCompletionStatus.SUCCESS);
        queue.release(head);
    }

    private boolean isOutstanding(int opcode, int psn) {
        return head < next && queue.opcode(head) == opcode && psn(head) == psn;
    }

    /** After the responses that had arrived: they may have made room, or freed what was held back. */
    void onResponsesHandled() {
        if (queuePair.isReadyToSend()) {
            work();
        }
    }

    // ---- failures

    private void failAs(int reason) {
        if (head == next) {
            badResponse("refuses what was not sent");
            return;
        }
        WorkCompletionStatus status = switch (reason) {
            case WireFormat.REMOTE_ACCESS -> WorkCompletionStatus.REMOTE_ACCESS_ERROR;
            case WireFormat.REMOTE_INVALID_REQUEST -> WorkCompletionStatus.REMOTE_INVALID_REQUEST;
            default -> WorkCompletionStatus.REMOTE_OPERATION_ERROR;
        };
        fail(status, "the peer refused a request");
    }

    private boolean badResponse(String what) {
        fail(WorkCompletionStatus.BAD_RESPONSE, "a response of the peer " + what);
        return false;
    }

    /** The oldest request fails with that status, and the queue pair with it. */
    private void fail(WorkCompletionStatus status, String reason) {
        if (head < queue.tail()) {
            complete(status);
        }
        queuePair.enterError(status + ": " + reason);
    }

    /** Reports the request at {@code head} if it asks for that or failed, and goes on to the next. */
    private void complete(WorkCompletionStatus status) {
        long index = head++;
        boolean signaled = (queue.flags(index) & SendFlag.SIGNALED) != 0;
        if (signaled || status != WorkCompletionStatus.SUCCESS) {
            queuePair.completeSend(queue.workRequestId(index), status.code(), queue.opcode(index), queue.length(index));
        }
    }

    // ---- time limits

    /** The peer, or the socket towards it, has given a sign of life. */
    void onProgress() {
        progressAt = System.nanoTime();
    }

    private void receiverNotReady(int timerCode) {
        if (head == next) {
            badResponse("waits for what was not sent");
            return;
        }
        // it says so again and again while it waits; silence longer than that is not waiting
        silenceAllowance = 4 * Timing.NOT_READY_REPEAT_NANOS;
        if (rnrRetry == 0) {
            rnrExceeded();
        } else if (rnrRetry < Timing.RNR_RETRY_FOR_EVER && rnrTimer == null) {
            long nanos = rnrRetry * Timing.rnrNanos(timerCode);
            rnrTimer = queuePair.loop().schedule(this::rnrExceeded, nanos, TimeUnit.NANOSECONDS);
        }
    }

    private void rnrExceeded() {
        rnrTimer = null;
        if (queuePair.isReadyToSend()) {
            fail(WorkCompletionStatus.RNR_RETRY_EXCEEDED, "the peer posted no receive in time");
        }
    }

    private void armRetryTimer() {
        if (retryTimer == null && retryNanos > 0) {
            onProgress();
            scheduleRetryTimer(retryNanos);
        }
    }

    private void scheduleRetryTimer(long nanos) {
        retryTimer = queuePair.loop().schedule(this::onRetryTimer, nanos, TimeUnit.NANOSECONDS);
    }

    private void onRetryTimer() {
        retryTimer = null;
        if (!queuePair.isReadyToSend()) {
            return;
        }
        if (head == next && !connecting) {
            work(); // was idle: what has just been posted gets its full time
            return;
        }
        long left = Math.max(retryNanos, silenceAllowance) - (System.nanoTime() - progressAt);
        if (left > 0) {
            scheduleRetryTimer(left);
        } else {
            fail(WorkCompletionStatus.RETRY_EXCEEDED, "no answer in time");
        }
    }

    private int psn(long index) {
        return (int) (firstPsn + (index - base)) & WireFormat.PSN_MASK;
    }
}
