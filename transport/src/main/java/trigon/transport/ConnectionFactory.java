package trigon.transport;

import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.config.QueuePairConfig;
import trigon.handshake.Established;
import trigon.handshake.RemoteMemory;
import trigon.qpstate.QueuePairParameters;
import trigon.verbs.ConnectionKey;
import trigon.verbs.QueuePairEndpoint;

/** Opens and connects queue pairs with the settings in force. Thread-safe. */
final class ConnectionFactory {

    private static final Logger log = LoggerFactory.getLogger(ConnectionFactory.class);

    /** How long after the end of its lifeline a peer's last messages and acknowledgements may come. */
    static final Duration GRACE = Duration.ofSeconds(1);

    /** How long a connection that is coming up waits for the device's own, so that its first message need not. */
    private static final Duration OPENING = Duration.ofSeconds(1);

    /** No READs and no atomics are sent; but some devices refuse 0. */
    private static final int READ_ATOMIC = 1;

    private final QueuePairConfig config;
    private final QueuePairParameters parameters;
    private final RandomGenerator random;
    private final Executor control;
    private final Executor afterGrace;

    /**
     * A factory.
     *
     * @param random for packet sequence numbers; thread-safe
     * @param control runs what may block
     * @param afterGrace the same, {@link #GRACE} later
     */
    ConnectionFactory(QueuePairConfig config, RandomGenerator random, Executor control, Executor afterGrace) {
        this.config = config;
        this.random = random;
        this.control = control;
        this.afterGrace = afterGrace;
        parameters = new QueuePairParameters(
                config.timeout(),
                config.retryCount(),
                config.rnrRetry(),
                config.minRnrTimer(),
                READ_ATOMIC,
                READ_ATOMIC);
    }

    /** {@link Connection#open}. */
    Connection open(Link link, Connection.Role role, MessageProtocol protocol) {
        return Connection.open(link, role, protocol, parameters, random);
    }

    /**
     * {@link Connection#connect}.
     *
     * @param trafficClass NCCL's, or {@link NetPlugin#TRAFFIC_CLASS_UNDEFINED}; the settings' goes first
     */
    void connect(
            Connection connection,
            QueuePairEndpoint peer,
            ConnectionKey key,
            RemoteMemory peerMemory,
            long peerMaxMessageBytes,
            int trafficClass) {
        int nccl = trafficClass == NetPlugin.TRAFFIC_CLASS_UNDEFINED ? 0 : trafficClass & 0xFF;
        connection.connect(
                peer,
                key,
                peerMemory,
                peerMaxMessageBytes,
                config.trafficClass().orElse(nccl),
                config.serviceLevel());
    }

    /** Waits until the first message of a connected connection can go at once; not for long, since that one may wait, too. */
    void awaitOpen(Connection connection) {
        if (!connection.queuePair().awaitOpen(OPENING)) {
            log.debug("{}: the device's own connection is not open yet", connection);
        }
    }

    /**
     * {@link Connection#watch}.
     *
     * @param node the peer's, as far as it is known by name
     */
    void watch(Connection connection, Established established, String node) {
        String address = established.remote().getAddress().getHostAddress();
        String name = node.equals(address) ? node : node + " at " + address;
        connection.watch(established.lifeline(), name, control, afterGrace);
    }
}
