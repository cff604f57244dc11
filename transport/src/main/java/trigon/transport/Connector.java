package trigon.transport;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.config.NodeConfig;
import trigon.config.PluginConfig;
import trigon.handshake.Established;
import trigon.handshake.HandshakeClient;
import trigon.handshake.HandshakeException;
import trigon.handshake.HandshakeMessage.Answer;
import trigon.handshake.HandshakeMessage.Offer;
import trigon.handshake.ListenHandle;
import trigon.handshake.NodeIdentity;
import trigon.handshake.OutgoingOffer;
import trigon.routing.LocalLink;
import trigon.routing.Path;
import trigon.routing.PeerDescription;
import trigon.routing.PeerLink;
import trigon.routing.RoutingTable;
import trigon.verbs.VerbsException;

/**
 * Connects to listeners: finds the paths to the peer, and tries one after the other until one carries the handshake and
 * the queue pairs come up. Each attempt runs on a control thread of its own; NCCL's threads only look at
 * {@link Connecting}.
 */
final class Connector {

    private static final Logger log = LoggerFactory.getLogger(Connector.class);

    private final Links links;
    private final RoutingTable routing;
    private final HandshakeClient client;
    private final ConnectionFactory connections;
    private final PluginConfig config;
    private final NodeIdentity self;
    private final Executor control;

    Connector(
            Links links,
            RoutingTable routing,
            HandshakeClient client,
            ConnectionFactory connections,
            PluginConfig config,
            NodeIdentity self,
            Executor control) {
        this.links = links;
        this.routing = routing;
        this.client = client;
        this.connections = connections;
        this.config = config;
        this.self = self;
        this.control = control;
    }

    /** Starts to connect, over the preferred link if that leads to the peer; returns at once. */
    Connecting connect(ListenHandle handle, Optional<LocalLink> preferred, int trafficClass) {
        Connecting connecting = new Connecting(peerName(handle));
        control.execute(() -> connecting.run(() -> connectOverAnyPath(handle, preferred, trafficClass, connecting)));
        return connecting;
    }

    private Connection connectOverAnyPath(
            ListenHandle handle, Optional<LocalLink> preferred, int trafficClass, Connecting connecting) {
        List<PeerLink> peerLinks = handle.links().stream()
                .map(link -> new PeerLink(link.address(), link.prefixLength(), link.port(), link.kinds()))
                .toList();
        List<Path> paths = routing.pathsTo(new PeerDescription(handle.nodeIndex(), peerLinks), preferred);
        NoConnectionException failures = new NoConnectionException(connecting.peer(), paths.size());
        for (Path path : paths) {
            try {
                Connection connection = connectOver(path, handle, trafficClass, connecting);
                log.info("sends to {}", path);
                return connection;
            } catch (HandshakeException | VerbsException e) {
                failures.add(path, e);
                if (connecting.isAbandoned()) {
                    break;
                }
                log.warn("no connection to {} over {}: {}", connecting.peer(), path, e.getMessage());
            }
        }
        throw failures;
    }

    private Connection connectOver(Path path, ListenHandle handle, int trafficClass, Connecting connecting) {
        Link link = links.of(path.local());
        InetAddress local = path.local().address().address();
        InetSocketAddress remote =
                new InetSocketAddress(path.remote().address(), path.remote().tcpPort());
        try (Unwinding unwinding = new Unwinding()) {
            Connection connection = connections.open(link, Connection.Role.SENDER);
            unwinding.onFailure(connection::close);
            OutgoingOffer attempt = client.connect(
                    local,
                    remote,
                    handle.secret(),
                    new Offer(
                            handle.connection(),
                            self,
                            path.kind(),
                            connection.endpoint(),
                            connection.forPeer(),
                            connection.maxMessageBytes()));
            unwinding.onFailure(() -> attempt.abandon("this attempt failed at the connecting side"));
            connecting.attempting(attempt);
            Answer answer = await(attempt.answer());
            connections.connect(
                    connection,
                    answer.endpoint(),
                    attempt.key(),
                    answer.memory(),
                    answer.maxMessageBytes(),
                    trafficClass);
            Established established = await(attempt.sendReady());
            connections.watch(connection, established, connecting.peer());
            unwinding.succeeded();
            return connection;
        }
    }

    /** The result; it has a deadline of its own. */
    private static <T> T await(CompletableFuture<T> future) {
        try {
            return future.join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof HandshakeException handshake) {
                throw handshake;
            }
            throw e;
        }
    }

    private String peerName(ListenHandle handle) {
        if (handle.nodeIndex().isPresent() && config.cluster().isPresent()) {
            List<NodeConfig> nodes = config.cluster().get().nodes();
            int index = handle.nodeIndex().getAsInt();
            return index < nodes.size() ? nodes.get(index).name() : "node " + index;
        }
        return handle.links().isEmpty()
                ? "a peer without links"
                : handle.links().getFirst().address().getHostAddress();
    }
}
