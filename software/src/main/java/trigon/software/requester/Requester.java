package trigon.software.requester;

import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.software.call.NativePair;
import trigon.software.call.Reason;
import trigon.software.call.Word;
import trigon.software.connection.DataConnection;
import trigon.stream.ByteStream;
import trigon.verbs.QueuePairAttributes;
import trigon.verbs.WorkCompletionStatus;

/**
 * The sending half of a queue pair, as far as Java decides: its connection, and its time limits. C turns work requests
 * into messages. Used under the queue pair's lock.
 */
public final class Requester {

    private static final Logger log = LoggerFactory.getLogger(Requester.class);

    private final RequestingQueuePair queuePair;
    private final NativePair pair;
    final TimeLimits limits;
    private final RequestConnector connector;
    private @Nullable RequestConnection connection;

    /** The sending half of a queue pair in RESET. */
    public Requester(RequestingQueuePair queuePair) {
        this.queuePair = queuePair;
        pair = queuePair.inC();
        connector = new RequestConnector(queuePair, new Connecting());
        limits = new TimeLimits(queuePair);
    }

    // ---- life cycle

    /** READY_TO_SEND: connects ahead of the first request. */
    public void start(QueuePairAttributes attributes) {
        pair.set(Word.FIRST_PSN, attributes.sendPsn());
        limits.start(TimerCodes.retryNanos(attributes.timeout(), attributes.retryCount()), attributes.rnrRetry());
        connector.connect();
    }

    /** Ends the connection, which C has left already. */
    public void stop() {
        connector.stop();
        RequestConnection current = connection;
        connection = null;
        if (current != null) {
            current.close();
        }
        limits.stop();
    }

    // ---- connection

    /** Returns whether its connection is being opened. */
    public boolean isConnecting() {
        return connector.isConnecting();
    }

    /** Returns whether its connection is open. */
    public boolean isConnected() {
        return connection != null;
    }

    /** The connection, if it is open. */
    public @Nullable DataConnection connection() {
        return connection;
    }

    /** A request waits for a connection. */
    public void connect() {
        if (queuePair.isReadyToSend() && connection == null && !connector.isConnecting() && !pair.has(Word.LOST)) {
            connector.connect();
        }
    }

    /** The connection has ended. */
    public void onLost() {
        RequestConnection current = connection;
        connection = null;
        if (current != null) {
            log.debug("{} lost the connection to its peer", queuePair);
            current.end("the peer has ended it");
        }
        // firewalls forget a connection that never carries anything, and nothing is lost then; a peer's end takes both
        if (pair.has(Word.BEGUN) || !queuePair.hasInboundConnection()) {
            queuePair.onBroken();
        }
    }

    /** An answer is waited for. */
    public void limitTime() {
        limits.arm();
    }

    /** The peer has said that it has no receive, or has one again. */
    public void onReceiver() {
        limits.onReceiver();
    }

    private final class Connecting implements RequestConnector.Owner {

        @Override
        public int nextPsn() {
            return (int) pair.get(Word.NEXT_PSN);
        }

        @Override
        public RequestConnection open(SocketChannel channel, ByteStream carrier, boolean relayed) throws IOException {
            return new RequestConnection(
                    channel, carrier, queuePair, relayed ? queuePair.device().checks() : 0);
        }

        @Override
        public void onConnected(RequestConnection established) {
            connection = established;
            queuePair.onConnectFinished();
            pair.connect(Objects.requireNonNull(established.inC()));
        }

        @Override
        public void onRefused(String reason) {
            if (hasWork()) {
                pair.failOldest(WorkCompletionStatus.RETRY_EXCEEDED.code(), Reason.NO_CONNECTION);
            }
        }

        @Override
        public boolean hasWork() {
            return pair.has(Word.HAS_WORK);
        }
    }
}
