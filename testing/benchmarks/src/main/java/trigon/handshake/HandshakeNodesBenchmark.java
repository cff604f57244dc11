package trigon.handshake;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
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
 * A connection from each node of a cluster to one of them, by the whole handshake over TCP on the loopback interface,
 * each node at an address of its own; some at a time, and all open at the end. Queue pairs are not made.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@SuppressWarnings("NullAway.Init") // JMH calls open first
public class HandshakeNodesBenchmark {

    private static final int AT_A_TIME = 16;
    private static final Duration TIMEOUT = Duration.ofSeconds(20);
    private static final QueuePairEndpoint ENDPOINT =
            new QueuePairEndpoint(0x123456, 0xABCDEF, new Gid(1, 2), 0, Mtu.MTU_4096);
    private static final RemoteMemory MEMORY = new RemoteMemory(0x7F00_0000_1000L, 0x55667788);
    private static final Answer ANSWER = new Answer(LinkKind.RDMA, ENDPOINT, MEMORY, 1 << 30, 100_000);

    /** How many nodes the cluster has. */
    @Param({"4", "16", "64", "256", "1024"})
    public int nodes;

    /** A connection under way, and what the listener knows it by. */
    private record Attempt(ConnectionId id, CompletableFuture<Established> result) {}

    private HandshakeEventLoop listening;
    private HandshakeEventLoop connecting;
    private HandshakeListeners listeners;
    private HandshakeClient client;
    private InetSocketAddress listener;

    @Setup
    public void open() throws UnknownHostException {
        HandshakeConfig config = new HandshakeConfig(TIMEOUT, 0, TIMEOUT, Optional.empty());
        InetAddress address = address(0);
        listening = HandshakeEventLoop.open();
        connecting = HandshakeEventLoop.open();
        listeners = HandshakeListeners.open(listening, config, identity(0), List.of(address));
        client = new HandshakeClient(connecting, config);
        listener = new InetSocketAddress(address, listeners.port(address));
    }

    @TearDown
    public void close() {
        listeners.close();
        connecting.close();
        listening.close();
    }

    @Benchmark
    public int connectionsOfAllNodes() throws UnknownHostException {
        List<Lifeline> open = new ArrayList<>();
        for (int node = 1; node < nodes; ) {
            List<Attempt> some = new ArrayList<>();
            for (; node < nodes && some.size() < AT_A_TIME; node++) {
                some.add(connect(node));
            }
            for (Attempt attempt : some) {
                open.add(attempt.result.join().lifeline());
                listeners.unregister(attempt.id);
            }
        }
        open.forEach(Lifeline::release);
        open.forEach(lifeline -> lifeline.lost().join());
        return open.size();
    }

    private Attempt connect(int node) throws UnknownHostException {
        ConnectionId id = ConnectionId.random();
        ConnectionSecret secret = ConnectionSecret.random();
        listeners.register(id, secret, _ -> CompletableFuture.completedFuture(ANSWER));
        Offer offer = new Offer(id, identity(node), LinkKind.RDMA, Stripe.only(id.value()), ENDPOINT, MEMORY, 1 << 30);
        OutgoingOffer outgoing = client.connect(address(node), listener, secret, offer);
        return new Attempt(id, outgoing.answer().thenCompose(_ -> outgoing.sendReady(1)));
    }

    private static NodeIdentity identity(int node) {
        return new NodeIdentity("node-" + node, OptionalInt.of(node), 1);
    }

    private static InetAddress address(int node) throws UnknownHostException {
        return InetAddress.getByAddress(new byte[] {127, 20, (byte) (node / 250), (byte) (1 + node % 250)});
    }
}
