package trigon.transport;

import java.util.random.RandomGenerator;
import trigon.config.QueuePairConfig;
import trigon.handshake.RemoteMemory;
import trigon.qpstate.QueuePairParameters;
import trigon.verbs.QueuePairEndpoint;

/** Opens and connects queue pairs with the settings in force. Thread-safe. */
final class ConnectionFactory {

    /** No READs and no atomics are sent; but some devices refuse 0. */
    private static final int READ_ATOMIC = 1;

    private final QueuePairConfig config;
    private final QueuePairParameters parameters;
    private final RandomGenerator random;

    /**
     * A factory.
     *
     * @param random for packet sequence numbers; thread-safe
     */
    ConnectionFactory(QueuePairConfig config, RandomGenerator random) {
        this.config = config;
        this.random = random;
        parameters = new QueuePairParameters(
                config.timeout(),
                config.retryCount(),
                config.rnrRetry(),
                config.minRnrTimer(),
                READ_ATOMIC,
                READ_ATOMIC);
    }

    /** {@link Connection#open}. */
    Connection open(Link link, Connection.Role role) {
        return Connection.open(link, role, parameters, random);
    }

    /**
     * {@link Connection#connect}.
     *
     * @param trafficClass NCCL's, or {@link NetPlugin#TRAFFIC_CLASS_UNDEFINED}; the settings' goes first
     */
    void connect(
            Connection connection,
            QueuePairEndpoint peer,
            RemoteMemory peerMemory,
            long peerMaxMessageBytes,
            int trafficClass) {
        int nccl = trafficClass == NetPlugin.TRAFFIC_CLASS_UNDEFINED ? 0 : trafficClass & 0xFF;
        connection.connect(
                peer, peerMemory, peerMaxMessageBytes, config.trafficClass().orElse(nccl), config.serviceLevel());
    }
}
