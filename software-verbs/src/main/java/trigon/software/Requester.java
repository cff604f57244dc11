package trigon.software;

import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.verbs.Memory;
import trigon.verbs.SendFlag;
import trigon.verbs.WorkCompletionStatus;

/**
 * The sending half of a queue pair: turns send work requests into messages, and responses into completions. Used
 * under the queue pair's lock.
 *
 * <p>Requests lie in the send queue in the order {@code head <= next <= tail}: below {@code next} they have been begun,
 * and from {@code head} on they are not complete. A request is complete when it is acknowledged; a SEND with
 * {@link SendFlag#INJECT_COMPLETE} when the socket has it, and then no answer is asked for.
 */
final class Requester {

    private static final Logger log = LoggerFactory.getLogger(Requester.class);

    /** Every so many turns it looks for acknowledgements of unsignalled requests, and for the end of the connection. */
    private static final int TURNS_UNHEARD = 16;

    /** How long after a lane the peer may take to say on its own connection why. */
    private static final long BROKEN_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final SoftwareQueuePair queuePair;
    private final SendQueue queue;
    private final TimeLimits limits;
    private final Timer brokenTimer;
    private final Connector connector;
    private final Lanes lanes;
    private final ReadTarget readTarget = new ReadTarget();

    private long head;
    private long next;
    /** The request that has {@code firstPsn}. */
    private long base;

    private int firstPsn;
    /** Below it, what goes on the queue pair's own connection has been given to the socket. */
    private long written;

    /** How many requests before {@code next} take a receive of the peer. */
    private int receivesTaken;

    private int readsOutstanding;
    private int signaledOutstanding;
    /** Begun, not complete, and answered by the peer once they are. */
    private int answersOutstanding;

    private int inPiecesOutstanding;

    private int maxReadAtomic;
    /** Turns since the responses were looked at, though nobody waits for any. */
    private int turnsUnheard;

    private long laneBytes;

    private @Nullable RequestConnection connection;

    private boolean lost;
    /** Status with which the request at {@code next} fails once all before it are done. */
    private @Nullable WorkCompletionStatus localFailure;

    Requester(SoftwareQueuePair queuePair, SendQueue queue) {
        this.queuePair = queuePair;
        this.queue = queue;
        connector = new Connector(queuePair, this);
        lanes = new Lanes(queuePair);
        limits = new TimeLimits(this, queuePair);
        brokenTimer = new Timer(queuePair::locked, this::onBrokenTimer);
    }

    // ---- life cycle

    /** READY_TO_SEND: connects ahead of the first request. */
    void start(int sendPsn, int maxReadAtomic, long retryNanos, int rnrRetry) {
        firstPsn = sendPsn;
        this.maxReadAtomic = maxReadAtomic;
        limits.start(retryNanos, rnrRetry);
        connector.connect();
    }

    /** Ends the connection; nothing is read or written for this queue pair any more. */
    void stop() {
        connector.stop();
        RequestConnection current = connection;
        connection = null;
        if (current != null) {
            current.close();
        }
        lanes.stop();
        readTarget.clear();
        limits.stop();
        queuePair.attendant().cancel(brokenTimer);
    }

    /** Completes all requests that are left as flushed. */
    void flush() {
        long tail = queue.tail();
        while (head < tail) {
            complete(WorkCompletionStatus.WR_FLUSHED);
        }
        next = head;
    }

    /** RESET: forgets everything, without completions. */
    void reset() {
        stop();
        head = queue.tail();
        next = head;
        queue.release(head);
        written = head;
        receivesTaken = 0;
        readsOutstanding = 0;
        signaledOutstanding = 0;
        answersOutstanding = 0;
        inPiecesOutstanding = 0;
        lost = false;
        localFailure = null;
        base = head;
    }

    // ---- connection

    /** The PSN that a connection opened now begins with. */
    int nextPsn() {
        return psn(head);
    }

    /** The peer has taken the connection. */
    void onConnected(RequestConnection established) {
        connection = established;
        onProgress();
        established.stream().ring();
        work();
        queuePair.arm();
    }

    /** Nobody listens at the peer's address, or who does takes no connection. The next request tries again. */
    void onRefused(String reason) {
        if (hasWork()) {
            fail(WorkCompletionStatus.RETRY_EXCEEDED, reason);
        }
    }

    /** Whether a request is not done. */
    boolean hasWork() {
        return head < queue.tail();
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

    // ---- the socket

    /** Takes the responses that have come; seldom while nobody waits for any, which saves a system call each time. */
    void receive(boolean evenIfNobodyWaits) {
        RequestConnection current = connection;
        if (current != null && (evenIfNobodyWaits || awaitsResponse() || ++turnsUnheard >= TURNS_UNHEARD)) {
            turnsUnheard = 0;
            current.receive();
        }
    }

    /** Whether a response has something to say that somebody waits for. */
    boolean awaitsResponse() {
        return signaledOutstanding > 0 || readsOutstanding > 0;
    }

    /** Has the attendant look after the connection. */
    void arm() {
        if (connection != null) {
            connection.arm();
        }
    }

    /** The attendant looks after the queue pair. */
    void disarm() {
        if (connection != null) {
            connection.disarm();
        }
    }

    // ---- requests

    /** Looks for something to do: after posts, and whenever something that was waited for has happened. */
    void work() {
        if (!hasWork()) {
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
        RequestConnection current = connection;
        if (current != null) {
            current.stream().ring();
            noteWritten(current.stream());
            completeInjected();
        }
        if (lanes.areBroken()) {
            onLanesBroken();
            return;
        }
        if (isWaitingForPeer()) {
            limits.arm();
        }
        if (current == null && !connector.isConnecting()) {
            connector.connect();
        }
    }

    private void noteWritten(RequestStream stream) {
        if (stream.isWritten()) {
            onAllWritten();
        } else if (stream.isWrittenButForPayload()) {
            written = next - 1; // nothing is begun behind a payload
        }
    }

    /** All that has been begun has been given to the socket, as far as it goes there. */
    void onAllWritten() {
        written = next;
    }

    /** Completes those at {@code head} whose memory may be used again and whose answer is not waited for. */
    private void completeInjected() {
        while (head < next && isInjected(head) && isWritten(head)) {
            complete(WorkCompletionStatus.SUCCESS);
        }
    }

    private boolean isWritten(long index) {
        return queue.isInPieces(index) ? lanes.haveSent(psn(index), queue.length(index)) : index < written;
    }

    /** Whether a request is complete as soon as the socket has it. */
    private boolean isInjected(long index) {
        return (queue.flags(index) & SendFlag.INJECT_COMPLETE) != 0 && WireFormat.isSend(queue.opcode(index));
    }

    private void onLanesBroken() {
        long index = head;
        while (index < next && !(queue.isInPieces(index) && lanes.haveLost(psn(index)))) {
            index++;
        }
        if (index < next) {
            if (index == head) { // those before it have come to their end
                lanes.stop();
                while (next > index) {
                    takeBackLast();
                }
                failLocally(WorkCompletionStatus.LOCAL_PROTECTION_ERROR);
            }
            return;
        }
        // the peer has most likely refused a request, or ended: it says which on the other connection
        if (!brokenTimer.isScheduled()) {
            queuePair.attendant().schedule(brokenTimer, BROKEN_NANOS);
        }
        receive(true);
    }

    private void onBrokenTimer() {
        if (queuePair.isReadyToSend() && lanes.areBroken()) {
            fail(WorkCompletionStatus.RETRY_EXCEEDED, "the peer has closed a lane");
        }
    }

    private void takeBackLast() {
        next--;
        noteEnded(next);
    }

    private void noteBegun(long index) {
        if (!isInjected(index)) {
            answersOutstanding++;
            if ((queue.flags(index) & SendFlag.SIGNALED) != 0) {
                signaledOutstanding++;
            }
        }
        if (queue.isInPieces(index)) {
            inPiecesOutstanding++;
        }
    }

    private void noteEnded(long index) {
        if (!isInjected(index)) {
            answersOutstanding--;
            if ((queue.flags(index) & SendFlag.SIGNALED) != 0) {
                signaledOutstanding--;
            }
        }
        if (queue.isInPieces(index)) {
            inPiecesOutstanding--;
            lanes.forget(psn(index));
        }
    }

    boolean mayStartNext() {
        if (localFailure != null || next == queue.tail() || lanes.areBroken()) {
            return false;
        }
        if (inPiecesOutstanding > 0 && !isInjected(next)) {
            return false; // its answer could come before the lanes have said that they are done
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
        int opcode = opcodeOnWire(index);
        int psn = psn(index);
        boolean inPieces = region != null && goesInPieces(index, length);
        queue.setInPieces(index, inPieces);
        next++;
        noteBegun(index);
        if (inPieces && region != null) {
            int immediate = (int) queue.operand(index);
            lanes.send(region, queue.localAddress(index), opcode, psn, receivesTaken, length, immediate);
        } else {
            stream.putRequest(
                    opcode, psn, length, queue.remoteAddress(index), queue.remoteKey(index), queue.operand(index));
            if (reads) {
                readsOutstanding++;
            } else if (region == null || length <= OutboundStream.COPY_LIMIT) {
                stream.putPayload(queue.localAddress(index), length);
            } else {
                stream.sendPayload(region, queue.localAddress(index), length);
            }
        }
        if (takesReceive(index)) {
            receivesTaken++;
        }
    }

    private int opcodeOnWire(long index) {
        int opcode = queue.opcode(index);
        if (isInjected(index)) {
            return opcode | WireFormat.UNANSWERED;
        }
        boolean signaled = (queue.flags(index) & SendFlag.SIGNALED) != 0;
        return signaled ? opcode | WireFormat.ACKNOWLEDGE_SOON : opcode;
    }

    private boolean takesReceive(long index) {
        return WireFormat.takesReceive(queue.opcode(index));
    }

    /** Whether a payload goes on the lanes. They are opened with the first that is long enough. */
    private boolean goesInPieces(long index, int length) {
        if (!isInjected(index) || !lanes.take(length)) {
            return false;
        }
        if (!lanes.areReady()) {
            lanes.open(firstPsn);
            return false;
        }
        return index - head < SentPieces.MESSAGES - 1;
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
        queuePair.workLater();
    }

    /** The memory that the last request's payload comes from was deregistered while it was sent. */
    void onPayloadLost() {
        takeBackLast();
        failLocally(WorkCompletionStatus.LOCAL_PROTECTION_ERROR);
    }

    // ---- responses

    /** Handles a response; returns how many bytes of payload follow it. */
    int onResponse(int kind, int detail, int psn, long value) {
        onProgress();
        switch (kind) {
            case WireFormat.ACK -> {
                limits.onReceiverReady();
                acknowledge(psn);
            }
            case WireFormat.NAK -> {
                if (acknowledge(psn - 1, true)) {
                    failAs(detail, psn);
                }
            }
            case WireFormat.RECEIVER_NOT_READY -> {
                if (acknowledge(psn - 1)) {
                    onReceiverNotReady(detail);
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
        return acknowledge(psn, false);
    }

    /**
     * The same.
     *
     * @param refusing the next is refused. Then those before it may be complete there, though the lanes have not said yet
     *     that they are sent
     */
    private boolean acknowledge(int psn, boolean refusing) {
        int distance = WireFormat.psnDistance(psn, psn(head));
        if (distance < 0) {
            return true; // nothing new
        }
        long end = head + distance + 1;
        if (end > next - (isSendingPayload() ? 1 : 0)) {
            return badResponse("acknowledges what was not sent");
        }
        while (head < end) {
            if (isReadOrAtomic(head) || (queue.isInPieces(head) && !refusing)) {
                return badResponse("passes over a READ or atomic, or acknowledges what is to have no answer");
            }
            complete(WorkCompletionStatus.SUCCESS);
        }
        return true;
    }

    private boolean isSendingPayload() {
        return connection != null && connection.stream().payloadLeft() > 0;
    }

    private void onReceiverNotReady(int timerCode) {
        if (head == next) {
            badResponse("waits for what was not sent");
        } else {
            limits.onReceiverNotReady(timerCode);
        }
    }

    /** Begins, or goes on with, the data of the READ at {@code head}. */
    private int startReadData(int psn, long bytes) {
        long total = queue.length(head);
        if (!isOutstanding(WireFormat.READ, psn) || bytes < 0 || bytes > total - readTarget.offset()) {
            badResponse("is not the data of the oldest READ");
            return 0;
        }
        if (readTarget.isAtStart() && total > 0) {
            SoftwareMemoryRegion region = localRegion(head, true);
            if (region == null) {
                failRead();
                return 0;
            }
            readTarget.start(region, queue.localAddress(head), total);
        }
        if (bytes == 0) {
            finishReadData();
        }
        return (int) bytes;
    }

    void onReadData(long at, int bytes, boolean lastOfResponse) {
        if (!readTarget.accept(at, bytes)) {
            failRead();
        } else if (lastOfResponse) {
            finishReadData();
        }
    }

    private void finishReadData() {
        if (readTarget.offset() == queue.length(head)) {
            readTarget.clear();
            finishReadOrAtomic();
        }
    }

    private void failRead() {
        fail(WorkCompletionStatus.LOCAL_PROTECTION_ERROR, "the target of a READ or atomic was deregistered");
    }

    private void atomicResult(int psn, long before) {
        if (!isOutstanding(WireFormat.FETCH_AND_ADD, psn)) {
            badResponse("is not the result of the oldest atomic");
        } else if (localRegion(head, true) == null) {
            failRead();
        } else {
            Memory.putLong(queue.localAddress(head), before);
            finishReadOrAtomic();
        }
    }

    private void finishReadOrAtomic() {
        readsOutstanding--;
        complete(WorkCompletionStatus.SUCCESS);
    }

    private boolean isOutstanding(int opcode, int psn) {
        return head < next && queue.opcode(head) == opcode && psn(head) == psn;
    }

    // ---- failures

    private void failAs(int reason, int psn) {
        if (WireFormat.psnDistance(psn, psn(head)) < 0) {
            queuePair.enterError("the peer refused a SEND that was complete already");
            return;
        }
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
        if (hasWork()) {
            complete(status);
        }
        queuePair.enterError(status + ": " + reason);
    }

    /** Reports the request at {@code head} if it asks for that or failed, and goes on to the next. */
    private void complete(WorkCompletionStatus status) {
        long index = head++;
        boolean signaled = (queue.flags(index) & SendFlag.SIGNALED) != 0;
        if (index < next) {
            noteEnded(index);
        }
        long id = queue.workRequestId(index);
        int opcode = queue.opcode(index);
        int length = queue.length(index);
        queue.release(head); // who sees the completion may post another
        if (signaled || status != WorkCompletionStatus.SUCCESS) {
            queuePair.completeSend(id, status.code(), opcode, length);
        }
    }

    // ---- for the time limits

    /** The peer, or the socket towards it, has given a sign of life. */
    void onProgress() {
        limits.onProgress();
    }

    boolean hasLanes() {
        return lanes.areReady();
    }

    /** Whether the lanes have sent something since the last time that this was asked. */
    boolean haveLanesMoved() {
        long bytes = lanes.bytes();
        boolean moved = bytes != laneBytes;
        laneBytes = bytes;
        return moved;
    }

    boolean isRunning() {
        return queuePair.isReadyToSend();
    }

    /** Whether the peer owes an answer, or a connection. */
    boolean isWaitingForPeer() {
        return answersOutstanding > 0 || (connection == null && hasWork());
    }

    void onTimeLimit(WorkCompletionStatus status, String reason) {
        if (queuePair.isReadyToSend()) {
            fail(status, reason);
        }
    }

    private int psn(long index) {
        return (int) (firstPsn + (index - base)) & WireFormat.PSN_MASK;
    }
}
