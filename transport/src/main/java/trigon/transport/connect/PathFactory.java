package trigon.transport.connect;

import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.config.PluginConfig;
import trigon.config.QueuePairConfig;
import trigon.handshake.Established;
import trigon.nccl.NetPlugin;
import trigon.qpstate.QueuePairParameters;
import trigon.system.InterfaceAddress;
import trigon.transport.path.Link;
import trigon.transport.path.PathCapacity;
import trigon.transport.path.PathChannel;
import trigon.transport.path.PathRole;
import trigon.transport.protocol.MessageProtocol;
import trigon.verbs.ConnectionKey;
import trigon.verbs.LinkKind;

/** Opens and connects queue pairs with the settings in force. Thread-safe. */
public final class PathFactory {

    private static final Logger log = LoggerFactory.getLogger(PathFactory.class);

    /** Time after the end of its lifeline in which a peer's last messages and acknowledgements may come. */
    public static final Duration GRACE = Duration.ofSeconds(1);

    /** Time that a connection that is coming up waits for the device's own, so that its first message need not. */
    private static final Duration OPENING = Duration.ofSeconds(1);

    /** No READs and no atomics are sent; but some devices refuse 0. */
    private static final int READ_ATOMIC = 1;

    private final QueuePairConfig config;
    private final QueuePairParameters ofSoftware;
    private final QueuePairParameters ofRdma;
    private final RandomGenerator random;
    private final Executor control;
    private final Executor afterGrace;

    /**
     * A factory.
     *
     * @param random for packet sequence numbers, and for attempts; thread-safe
     * @param control runs what may block
     * @param afterGrace the same, {@link #GRACE} later
     */
    public PathFactory(PluginConfig config, RandomGenerator random, Executor control, Executor afterGrace) {
        this.config = config.queuePair();
        this.random = random;
        this.control = control;
        this.afterGrace = afterGrace;
        ofSoftware = parameters(config.queuePair());
        ofRdma = parameters(config.rdmaQueuePair());
    }

    private static QueuePairParameters parameters(QueuePairConfig config) {
        return new QueuePairParameters(
                config.timeout(),
                config.retryCount(),
                config.rnrRetry(),
                config.minRnrTimer(),
                READ_ATOMIC,
                READ_ATOMIC);
    }

    /** A random number, by which peers tell this process's attempts at a connection apart. */
    public long nextAttempt() {
        return random.nextLong();
    }

    /**
     * {@link PathChannel#open} with what the protocol needs.
     *
     * @param shortPackets whether longer packets than Ethernet's usual MTU takes are lost on its way
     */
    public PathChannel open(Link link, PathRole role, MessageProtocol protocol, boolean shortPackets) {
        PathCapacity capacity = protocol.capacity(role, link.port().maxMessageSize());
        QueuePairParameters parameters = link.local().kind() == LinkKind.RDMA ? ofRdma : ofSoftware;
        return PathChannel.open(link, role, capacity, parameters, random, shortPackets);
    }

    /**
     * {@link PathChannel#connect}.
     *
     * @param trafficClass NCCL's, or {@link NetPlugin#TRAFFIC_CLASS_UNDEFINED}; the settings' goes first
     * @throws IllegalArgumentException if the ports' longest messages do not do for the protocol
     */
    public void connect(
            PathChannel path,
            PathRole role,
            MessageProtocol protocol,
            PeerEnd peer,
            ConnectionKey key,
            int trafficClass) {
        path.limit(peer.maxMessageBytes(), peer.speedMbps());
        protocol.requireFitting(role, path.sendQueueDepth(), path.maxMessageBytes());
        int nccl = trafficClass == NetPlugin.TRAFFIC_CLASS_UNDEFINED ? 0 : trafficClass & 0xFF;
        path.connect(peer.endpoint(), key, peer.memory(), config.trafficClass().orElse(nccl), config.serviceLevel());
    }

    /** Waits until the first message of a connected path can go at once; not for long, since that one may wait, too. */
    public void awaitOpen(PathChannel path) {
        if (!path.queuePair().awaitOpen(OPENING)) {
            log.debug("{}: the device's own connection is not open yet", path);
        }
    }

    /**
     * {@link PathChannel#watch}.
     *
     * @param node the peer's, as far as it is known by name
     */
    public void watch(PathChannel path, Established established, String node) {
        String address = InterfaceAddress.text(established.remote().getAddress());
        String name = node.equals(address) ? node : node + " at " + address;
        path.watch(established, name, control, afterGrace);
    }
}
