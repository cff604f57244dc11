package trigon.software;

import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.verbs.SendFlag;
import trigon.verbs.WorkCompletionStatus;

/**
 * The sending half of a queue pair: turns send work requests into messages, in order. Used under the queue pair's lock.
 *
 * <p>A request is complete when it is acknowledged; a SEND with {@link SendFlag#INJECT_COMPLETE} when the socket has it, and
 * then no answer is asked for.
 */
final class Requester {

    private static final Logger log = LoggerFactory.getLogger(Requester.class);

    /** Every so many turns it looks for acknowledgements of unsignalled requests, and for the end of the connection. */
    private static final int TURNS_UNHEARD = 16;

    /** Longer messages have no tail: the kernel acknowledges a full segment as soon as it comes. */
    private static final int TAIL_LIMIT = 1 << 10;

    /** How long after a lane the peer may take to say on its own connection why. */
    private static final long BROKEN_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final SoftwareQueuePair queuePair;
    private final SendQueue queue;
    private final OutstandingRequests outstanding;
    private final IncomingResponses responses;
    private final TimeLimits limits;
    private final Timer brokenTimer;
    private final Connector connector;
    private final Lanes lanes;

    /** Below it, what goes on the queue pair's own connection has been given to the socket. */
    private long written;
    /** How many requests before {@code next} take a receive of the peer. */
    private int receivesTaken;

    private int maxReadAtomic;
    /** Turns since the responses were looked at, though nobody waits for any. */
    private int turnsUnheard;

    private long laneBytes;

    private @Nullable RequestConnection connection;

    /** It has sent something. */
    private boolean begun;

    private boolean lost;
    /** Status with which the request at {@code next} fails once all before it are done. */
    private @Nullable WorkCompletionStatus localFailure;

    Requester(SoftwareQueuePair queuePair, SendQueue queue) {
        this.queuePair = queuePair;
        this.queue = queue;
        outstanding = new OutstandingRequests(queue);
        connector = new Connector(queuePair, this);
        lanes = new Lanes(queuePair);
        limits = new TimeLimits(this, queuePair);
        responses = new IncomingResponses(queuePair, this, queue, outstanding, limits);
        brokenTimer = new Timer(queuePair::locked, this::onBrokenTimer);
    }

    // ---- life cycle

    /** READY_TO_SEND: connects ahead of the first request. */
    void start(int sendPsn, int maxReadAtomic, long retryNanos, int rnrRetry) {
        outstanding.start(sendPsn);
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
        responses.stop();
        limits.stop();
        queuePair.attendant().cancel(brokenTimer);
    }

    /** Completes all requests that are left as flushed. */
    void flush() {
        while (hasWork()) {
            complete(WorkCompletionStatus.WR_FLUSHED);
        }
    }

    /** RESET: forgets everything, without completions. */
    void reset() {
        stop();
        outstanding.reset();
        written = outstanding.head();
        receivesTaken = 0;
        lost = false;
        begun = false;
        localFailure = null;
    }

    // ---- connection

    /** The PSN that a connection opened now begins with. */
    int nextPsn() {
        return outstanding.psn(outstanding.head());
    }

    boolean isConnecting() {
        return connector.isConnecting();
    }

    /** Whether the connection was there, and has ended. */
    boolean isLost() {
        return lost;
    }

    boolean isConnected() {
        return connection != null;
    }

    /** The peer has taken the connection. */
    void onConnected(RequestConnection established) {
        connection = established;
        queuePair.onOpened();
        onProgress();
        established.stream().ring();
        work();
        queuePair.turns().arm();
    }

    /** Nobody listens at the peer's address, or who does takes no connection. The next request tries again. */
    void onRefused(String reason) {
        if (hasWork()) {
            fail(WorkCompletionStatus.RETRY_EXCEEDED, reason);
        }
    }

    /** Whether a request is not done. */
    boolean hasWork() {
        return outstanding.isAny();
    }

    void onConnectionClosed(RequestConnection closed) {
        if (closed != connection) {
            return;
        }
        connection = null;
        lost = true;
        log.debug("{} lost the connection to its peer", queuePair);
        // firewalls forget a connection that never carries anything, and nothing is lost then; a peer's end takes both
        if (begun || !queuePair.hasInboundConnection()) {
            queuePair.onBroken();
        }
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
        return outstanding.awaitResponse();
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
        if (localFailure != null && !outstanding.isAnyBegun()) {
            fail(localFailure, "a request does not fit the local memory regions or the queue pair");
            return;
        }
        if (lost) {
            completeInjected(); // the lanes may have sent all of a message since anybody looked
            if (hasWork()) {
                fail(WorkCompletionStatus.RETRY_EXCEEDED, "the peer has closed the connection");
            }
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
            written = outstanding.next() - 1; // nothing is begun behind a payload
        }
    }

    /** All that has been begun has been given to the socket, as far as it goes there. */
    void onAllWritten() {
        written = outstanding.next();
    }

    /** Completes those at {@code head} whose memory may be used again and whose answer is not waited for. */
    private void completeInjected() {
        while (outstanding.isAnyBegun()
                && outstanding.isInjected(outstanding.head())
                && isWritten(outstanding.head())) {
            complete(WorkCompletionStatus.SUCCESS);
        }
    }

    private boolean isWritten(long index) {
        return queue.isInPieces(index) ? lanes.haveSent(outstanding.psn(index), queue.length(index)) : index < written;
    }

    private void onLanesBroken() {
        long index = outstanding.head();
        while (index < outstanding.next() && !(queue.isInPieces(index) && lanes.haveLost(outstanding.psn(index)))) {
            index++;
        }
        if (index < outstanding.next()) {
            if (index == outstanding.head()) { // those before it have come to their end
                lanes.stop();
                while (outstanding.next() > index) {
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
        long index = outstanding.takeBack();
        if (queue.isInPieces(index)) {
            lanes.forget(outstanding.psn(index));
        }
    }

    boolean mayStartNext() {
        long next = outstanding.next();
        if (localFailure != null || next == queue.tail() || lanes.areBroken()) {
            return false;
        }
        if (outstanding.areInPieces() && !outstanding.isInjected(next)) {
            return false; // its answer could come before the lanes have said that they are done
        }
        if (outstanding.reads() == 0) {
            return true;
        }
        boolean fenced = (queue.flags(next) & SendFlag.FENCE) != 0;
        return !fenced && (!outstanding.isReadOrAtomic(next) || outstanding.reads() < maxReadAtomic);
    }

    /** Encodes the request at {@code next}, or notes why it fails. */
    void startNext(RequestStream stream) {
        long index = outstanding.next();
        int length = queue.length(index);
        boolean reads = outstanding.isReadOrAtomic(index);
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
        int psn = outstanding.psn(index);
        boolean inPieces = (length == 0 || !inline) && goesInPieces(index, length);
        queue.setInPieces(index, inPieces);
        outstanding.begin();
        begun = true;
        if (inPieces) {
            int immediate = (int) queue.operand(index);
            lanes.send(region, queue.localAddress(index), opcode, psn, receivesTaken, length, immediate);
        } else {
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
        if (WireFormat.takesReceive(queue.opcode(index))) {
            receivesTaken++;
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
        if (outstanding.isInjected(index)) {
            return opcode | WireFormat.UNANSWERED;
        }
        return outstanding.isSignaled(index) ? opcode | WireFormat.ACKNOWLEDGE_SOON : opcode;
    }

    /**
     * Whether a message goes on the lanes. They are opened with the first that is long enough. Shorter ones go there behind
     * one that is still on its way there: the receiver needs that one first, and this thread is spared a system call.
     */
    private boolean goesInPieces(long index, int length) {
        boolean followsPieces = index > outstanding.head() && queue.isInPieces(index - 1);
        if (!outstanding.isInjected(index) || !(followsPieces || lanes.take(length))) {
            return false;
        }
        if (!lanes.areReady()) {
            lanes.open(outstanding.firstPsn());
            return false;
        }
        return index - outstanding.head() < SentPieces.MESSAGES - 1;
    }

    /** The local memory of a request; null if it does not lie in a region that allows it. */
    @Nullable
    SoftwareMemoryRegion localRegion(long index, boolean write) {
        return queuePair
                .memoryRegions()
                .local(
                        queuePair.protectionDomain(),
                        queue.localKey(index),
                        queue.localAddress(index),
                        queue.length(index),
                        write);
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
        return responses.onResponse(kind, detail, psn, value);
    }

    void onReadData(long at, int bytes, boolean lastOfResponse) {
        responses.onReadData(at, bytes, lastOfResponse);
    }

    /** One past the last request that has been sent, as far as its payload. */
    long sent() {
        boolean sending = connection != null && connection.stream().payloadLeft() > 0;
        return outstanding.next() - (sending ? 1 : 0);
    }

    // ---- completions

    /** The oldest request fails with that status, and the queue pair with it. */
    void fail(WorkCompletionStatus status, String reason) {
        if (hasWork()) {
            complete(status);
        }
        queuePair.enterError(status + ": " + reason);
    }

    /** Reports the request at {@code head} if it asks for that or failed, and goes on to the next. */
    void complete(WorkCompletionStatus status) {
        long index = outstanding.head();
        if (outstanding.isAnyBegun() && queue.isInPieces(index)) {
            lanes.forget(outstanding.psn(index));
        }
        outstanding.end();
        boolean signaled = outstanding.isSignaled(index);
        long id = queue.workRequestId(index);
        int opcode = queue.opcode(index);
        int length = queue.length(index);
        queue.release(outstanding.head()); // who sees the completion may post another
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

    /** How many messages go on lanes and are not complete. */
    int onLanes() {
        return outstanding.inPieces();
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
        return outstanding.awaitAnswer() || (connection == null && hasWork());
    }

    void onTimeLimit(WorkCompletionStatus status, String reason) {
        if (queuePair.isReadyToSend()) {
            fail(status, reason);
        }
    }
}
