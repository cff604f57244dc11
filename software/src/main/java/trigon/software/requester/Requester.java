package trigon.software.requester;

import java.io.IOException;
import java.nio.channels.SocketChannel;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.software.connection.DataConnection;
import trigon.software.queue.SendQueue;
import trigon.stream.ByteStream;
import trigon.verbs.QueuePairAttributes;
import trigon.verbs.SendFlag;
import trigon.verbs.WorkCompletionStatus;

/**
 * The sending half of a queue pair: turns send work requests into messages, in order. Used under the queue pair's lock.
 *
 * <p>A request is complete when it is acknowledged; a SEND with {@link SendFlag#INJECT_COMPLETE} when the socket has
 * it, and an answer is asked for only with {@link SendFlag#DELIVERY_COMPLETE}; unless RDMA carries the bytes to a
 * relay, since what a NIC has not sent ends with the process.
 */
public final class Requester {

    private static final Logger log = LoggerFactory.getLogger(Requester.class);

    /** Every so many calls it looks for acknowledgements of unsignalled requests, and for the end of the connection. */
    private static final int CALLS_UNHEARD = 16;

    private final RequestingQueuePair queuePair;
    private final SendQueue queue;
    final OutstandingRequests outstanding;
    private final IncomingResponses responses;
    final TimeLimits limits;
    private final RequestConnector connector;
    private final RequestEncoder encoder;

    /** Calls since the responses were looked at, though nobody waits for any. */
    private int callsUnheard;

    private @Nullable RequestConnection connection;

    private boolean lost;

    /** {@link OutstandingRequests#delivered}, for who does not hold the lock. */
    private volatile long delivered;

    /** The sending half of a queue pair in RESET. */
    public Requester(RequestingQueuePair queuePair, SendQueue queue) {
        this.queuePair = queuePair;
        this.queue = queue;
        outstanding = new OutstandingRequests(queue);
        connector = new RequestConnector(queuePair, new Connecting());
        encoder = new RequestEncoder(queuePair, queue, outstanding);
        limits = new TimeLimits(new Waiting(), queuePair);
        responses = new IncomingResponses(queuePair, this, outstanding, limits);
    }

    // ---- life cycle

    /** READY_TO_SEND: connects ahead of the first request. */
    public void start(QueuePairAttributes attributes) {
        outstanding.start(attributes.sendPsn());
        limits.start(TimerCodes.retryNanos(attributes.timeout(), attributes.retryCount()), attributes.rnrRetry());
        connector.connect();
    }

    /** Ends the connection; nothing is read or written for this queue pair any more. */
    public void stop() {
        connector.stop();
        RequestConnection current = connection;
        connection = null;
        if (current != null) {
            current.close();
        }
        limits.stop();
    }

    /** Completes all requests that are left as flushed. */
    public void flush() {
        while (hasWork()) {
            complete(WorkCompletionStatus.WR_FLUSHED);
        }
    }

    /** RESET: forgets everything, without completions. */
    public void reset() {
        stop();
        outstanding.reset();
        encoder.reset();
        delivered = 0;
        lost = false;
    }

    // ---- connection

    /** Returns whether its connection is being opened. */
    public boolean isConnecting() {
        return connector.isConnecting();
    }

    /** Returns whether the connection was there, and has ended. */
    public boolean isLost() {
        return lost;
    }

    /** Returns whether its connection is open. */
    public boolean isConnected() {
        return connection != null;
    }

    private final class Connecting implements RequestConnector.Owner {

        @Override
        public int nextPsn() {
            return outstanding.psn(outstanding.head());
        }

        @Override
        public RequestConnection open(SocketChannel channel, ByteStream carrier, boolean relayed) throws IOException {
            OutgoingChecks checks =
                    relayed ? OutgoingChecks.of(queuePair.device().checks()) : null;
            RequestStream stream = new RequestStream(carrier, encoder, limits, checks);
            return new RequestConnection(channel, carrier, queuePair, new Connected(), stream);
        }

        @Override
        public void onConnected(RequestConnection established) {
            connection = established;
            outstanding.setKeptByKernel(established.carrier().isSelectable());
            queuePair.onConnectFinished();
            limits.onProgress();
            established.stream().ring();
            work();
            queuePair.lock().arm();
        }

        @Override
        public void onRefused(String reason) {
            if (hasWork()) {
                fail(WorkCompletionStatus.RETRY_EXCEEDED, reason);
            }
        }

        @Override
        public boolean hasWork() {
            return Requester.this.hasWork();
        }
    }

    /** Returns whether a request is not done. */
    public boolean hasWork() {
        return outstanding.isAny();
    }

    private final class Connected implements RequestConnection.Owner {

        @Override
        public void onResponse(int kind, int detail, int psn) {
            limits.onProgress();
            responses.onResponse(kind, detail, psn);
        }

        @Override
        public void onConnectionClosed(RequestConnection closed) {
            if (closed == connection) {
                onLost();
            }
        }
    }

    private void onLost() {
        connection = null;
        lost = true;
        log.debug("{} lost the connection to its peer", queuePair);
        // firewalls forget a connection that never carries anything, and nothing is lost then; a peer's end takes both
        if (encoder.hasBegun() || !queuePair.hasInboundConnection()) {
            queuePair.onBroken();
        }
        work();
    }

    // ---- the socket

    /** Takes the responses that have come; seldom while nobody waits for any, which saves a system call each time. */
    public void receive(boolean evenIfNobodyWaits) {
        RequestConnection current = connection;
        if (current != null && (evenIfNobodyWaits || awaitsResponse() || ++callsUnheard >= CALLS_UNHEARD)) {
            callsUnheard = 0;
            current.receive();
        }
    }

    /** Returns whether a response has something to say that somebody waits for. */
    boolean awaitsResponse() {
        return outstanding.awaitResponse();
    }

    /** The connection, if it is open. */
    public @Nullable DataConnection connection() {
        return connection;
    }

    // ---- requests

    /** Looks for something to do: after posts, and whenever something that was waited for has happened. */
    public void work() {
        if (!hasWork()) {
            return;
        }
        WorkCompletionStatus localFailure = encoder.failure();
        if (localFailure != null && !outstanding.isAnyBegun()) {
            fail(localFailure, "a request does not fit the local memory regions or the queue pair");
            return;
        }
        if (lost) {
            completeDone();
            if (hasWork()) {
                fail(WorkCompletionStatus.RETRY_EXCEEDED, "the peer has closed the connection");
            }
            return;
        }
        RequestConnection current = connection;
        if (current != null) {
            current.stream().ring();
            encoder.noteWritten(current.stream());
            completeDone();
        }
        if (isWaitingForPeer()) {
            limits.arm();
        }
        if (current == null && !connector.isConnecting()) {
            connector.connect();
        }
    }

    /** The peer has all requests below that one. */
    void acknowledgeTo(long end) {
        outstanding.acknowledgeTo(end);
        delivered = outstanding.delivered();
        completeDone();
    }

    /** Completes those at {@code head} that are done. */
    private void completeDone() {
        while (outstanding.isAnyBegun() && isDone(outstanding.head())) {
            complete(WorkCompletionStatus.SUCCESS);
        }
    }

    /** Returns whether the peer has a request, or has its memory been read where its answer is not waited for. */
    private boolean isDone(long index) {
        return outstanding.isAcknowledged(index) || (outstanding.isInjected(index) && encoder.isWritten(index));
    }

    /** The number of requests since READY_TO_SEND that the peer has, as far as it has said so. Any thread. */
    public long delivered() {
        return delivered;
    }

    // ---- responses

    /** One past the last request that has been sent, as far as its payload. */
    long sent() {
        boolean sending = connection != null && connection.stream().payloadBytes() > 0;
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

    // ---- time limits

    private boolean isWaitingForPeer() {
        return outstanding.awaitAnswer() || (connection == null && hasWork());
    }

    private final class Waiting implements TimeLimits.Owner {

        @Override
        public boolean isRunning() {
            return queuePair.isReadyToSend();
        }

        @Override
        public boolean isWaitingForPeer() {
            return Requester.this.isWaitingForPeer();
        }

        @Override
        public void work() {
            Requester.this.work();
        }

        @Override
        public void onTimeLimit(WorkCompletionStatus status, String reason) {
            if (queuePair.isReadyToSend()) {
                fail(status, reason);
            }
        }
    }
}
