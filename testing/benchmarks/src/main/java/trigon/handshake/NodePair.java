package trigon.handshake;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import trigon.config.HandshakeConfig;
import trigon.handshake.connect.HandshakeClient;
import trigon.handshake.lifeline.HandshakeEventLoop;
import trigon.handshake.listen.HandshakeListeners;
import trigon.handshake.message.ConnectionId;
import trigon.handshake.message.ConnectionSecret;
import trigon.handshake.message.HandshakeMessage.Answer;
import trigon.handshake.message.HandshakeMessage.Offer;
import trigon.handshake.message.NodeIdentity;
import trigon.handshake.message.RemoteMemory;
import trigon.handshake.message.Stripe;
import trigon.verbs.Gid;
import trigon.verbs.LinkKind;
import trigon.verbs.Mtu;
import trigon.verbs.QueuePairEndpoint;

/**
 * A node that listens and others that connect to it, each end with an event loop of its own, on the loopback interface;
 * each node at an address of its own. Queue pairs are not made. Used by one thread.
 */
final class NodePair implements AutoCloseable {

    private static final Duration TIMEOUT = Duration.ofSeconds(20);
    private static final QueuePairEndpoint ENDPOINT =
            new QueuePairEndpoint(0x123456, 0xABCDEF, new Gid(1, 2), 0, Mtu.MTU_4096);
    private static final RemoteMemory MEMORY = new RemoteMemory(0x7F00_0000_1000L, 0x55667788);
    private static final Answer ANSWER = new Answer("b", LinkKind.RDMA, ENDPOINT, MEMORY, 1 << 30, 100_000, true, 0);

    private final HandshakeEventLoop listening = HandshakeEventLoop.open();
    private final HandshakeEventLoop connecting = HandshakeEventLoop.open();
    private final HandshakeListeners listeners;
    private final HandshakeClient client;
    private final InetSocketAddress listener;

    /**
     * A connection under way.
     *
     * @param id what the listener knows it by
     */
    record Attempt(ConnectionId id, CompletableFuture<Established> result) {}

    NodePair() throws UnknownHostException {
        HandshakeConfig config = new HandshakeConfig(TIMEOUT, 0, TIMEOUT, Optional.empty());
        InetAddress address = address(0);
        listeners = HandshakeListeners.open(listening, config, identity(0), List.of(address));
        client = new HandshakeClient(connecting, config);
        listener = new InetSocketAddress(address, listeners.port(address));
    }

    /**
     * Begins with a connection from that node to the one that listens.
     *
     * @param node from 1
     */
    Attempt connect(int node) throws UnknownHostException {
        ConnectionId id = ConnectionId.random();
        ConnectionSecret secret = ConnectionSecret.random();
        listeners.register(id, secret, _ -> CompletableFuture.completedFuture(ANSWER));
        Offer offer = new Offer(id, identity(node), LinkKind.RDMA, Stripe.only(id.value()), ENDPOINT, MEMORY, 1 << 30);
        OutgoingOffer outgoing = client.connect(address(node), listener, secret, offer);
        return new Attempt(id, outgoing.answer().thenCompose(_ -> outgoing.sendReady(1)));
    }

    /** Waits until the connection is there; the listener then forgets how it came to be. */
    Established establish(Attempt attempt) {
        Established established = attempt.result.join();
        listeners.unregister(attempt.id);
        return established;
    }

    @Override
    public void close() {
        listeners.close();
        connecting.close();
        listening.close();
    }

    private static NodeIdentity identity(int node) {
        return new NodeIdentity("node-" + node, OptionalInt.of(node), 1, 0, true);
    }

    private static InetAddress address(int node) throws UnknownHostException {
        return InetAddress.getByAddress(new byte[] {127, 20, (byte) (node / 250), (byte) (1 + node % 250)});
    }
}
