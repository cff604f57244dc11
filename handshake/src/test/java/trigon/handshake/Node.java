package trigon.handshake;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import trigon.config.HandshakeConfig;
import trigon.config.cluster.ClusterKey;
import trigon.handshake.connect.HandshakeClient;
import trigon.handshake.lifeline.HandshakeEventLoop;
import trigon.handshake.listen.HandshakeListeners;
import trigon.handshake.message.ConnectionId;
import trigon.handshake.message.ConnectionSecret;
import trigon.handshake.message.Decider;
import trigon.handshake.message.HandshakeMessage.Answer;
import trigon.handshake.message.HandshakeMessage.Offer;
import trigon.handshake.message.NodeIdentity;
import trigon.handshake.message.OpaqueBytes;
import trigon.handshake.message.RandomMessages;
import trigon.handshake.message.Stripe;
import trigon.system.NanoClock;
import trigon.system.PortRange;
import trigon.testsupport.Await;
import trigon.testsupport.ManualClock;
import trigon.verbs.LinkKind;

/**
 * A process of the tests: its own event loop, one loopback address, listener and client. Where a test gives it no
 * clock, its time stands still: however slow the machine is, nothing is too late.
 */
public final class Node implements AutoCloseable {

    public static final Duration LONG = Duration.ofSeconds(20);

    private final InetAddress address;
    private final NodeIdentity identity;
    private final HandshakeEventLoop loop;
    private final HandshakeListeners listeners;
    private final HandshakeClient client;
    private final RandomMessages values = new RandomMessages(new Random());

    public Node(String address, Duration timeout) {
        this(address, timeout, 1);
    }

    public Node(String address, Duration timeout, NanoClock clock) {
        this(address, timeout, 1, Optional.empty(), LONG, clock);
    }

    public Node(String address, Duration timeout, int fingerprint) {
        this(address, timeout, fingerprint, Optional.empty());
    }

    public Node(String address, Duration timeout, int fingerprint, Optional<ClusterKey> clusterKey) {
        this(address, timeout, fingerprint, clusterKey, LONG, new ManualClock());
    }

    public Node(
            String address,
            Duration timeout,
            int fingerprint,
            Optional<ClusterKey> clusterKey,
            Duration peerTimeout,
            NanoClock clock) {
        this(address, timeout, fingerprint, clusterKey, peerTimeout, peerTimeout, clock);
    }

    /** One whose peers may be stopped for longer than they may be silent. */
    public Node(
            String address,
            Duration timeout,
            int fingerprint,
            Optional<ClusterKey> clusterKey,
            Duration peerTimeout,
            Duration stoppedTimeout,
            NanoClock clock) {
        loop = HandshakeEventLoop.open(clock);
        try {
            this.address = InetAddress.getByName(address);
        } catch (UnknownHostException e) {
            throw new AssertionError(e);
        }
        HandshakeConfig config = new HandshakeConfig(timeout, PortRange.ANY, peerTimeout, stoppedTimeout, clusterKey);
        identity = new NodeIdentity(
                "node-" + address, OptionalInt.empty(), fingerprint, new Decider(1, false, 0), 1, true);
        listeners = HandshakeListeners.open(loop, config, identity, List.of(this.address));
        client = new HandshakeClient(loop, config);
    }

    /** With the default for silent peers, and without a cluster key. */
    public static HandshakeConfig config(Duration timeout, PortRange ports) {
        return new HandshakeConfig(
                timeout,
                ports,
                HandshakeConfig.DEFAULT.peerTimeout(),
                HandshakeConfig.DEFAULT.stoppedTimeout(),
                Optional.empty());
    }

    public InetAddress address() {
        return address;
    }

    public InetSocketAddress listeningAt() {
        return new InetSocketAddress(address, listeners.port(address));
    }

    public HandshakeListeners listeners() {
        return listeners;
    }

    public HandshakeClient client() {
        return client;
    }

    public HandshakeEventLoop loop() {
        return loop;
    }

    /** Waits until all that was due by its clock has run. */
    public void settle() {
        CompletableFuture<Void> settled = new CompletableFuture<>();
        // from the loop's own thread: else it would not wait for the timers that are due
        loop.eventLoop().execute(() -> {
            var _ = loop.eventLoop().schedule(() -> settled.complete(null), 0, TimeUnit.NANOSECONDS);
        });
        Await.until("the event loop has run its timers", settled::isDone);
    }

    public NodeIdentity identity() {
        return identity;
    }

    public Offer offer(ConnectionId connection) {
        return offer(connection, new Stripe(new Random().nextLong(), 0, 1));
    }

    public Offer offer(ConnectionId connection, Stripe stripe) {
        Offer random = values.offer(connection, LinkKind.RDMA);
        return new Offer(
                connection,
                identity,
                LinkKind.RDMA,
                stripe,
                random.endpoint(),
                random.clearToSend(),
                random.maxMessageBytes());
    }

    public Answer answer() {
        return values.answer(LinkKind.RDMA);
    }

    /** The secret that the tests' nodes have for a connection. */
    public static ConnectionSecret secretOf(ConnectionId connection) {
        return new ConnectionSecret(OpaqueBytes.of(ByteBuffer.allocate(ConnectionSecret.BYTES)
                .putLong(connection.value())
                .putLong(~connection.value())
                .array()));
    }

    /** Offers to whoever listens there. */
    public OutgoingOffer connect(InetSocketAddress to, Offer offer) {
        return connect(to, secretOf(offer.connection()), offer);
    }

    /** Offers with that secret, the right one or not. */
    public OutgoingOffer connect(InetSocketAddress to, ConnectionSecret secret, Offer offer) {
        return client.connect(address, to, secret, offer);
    }

    /** Registers a connection whose offers are collected, to be answered by the test. */
    public Listener listen(ConnectionId connection) {
        Listener listener = new Listener();
        listeners.register(connection, secretOf(connection), listener);
        return listener;
    }

    @Override
    public void close() {
        listeners.close();
        loop.close();
    }

    /** Collects offers. */
    public static final class Listener implements OfferHandler {

        private final LinkedBlockingQueue<Attempt> attempts = new LinkedBlockingQueue<>();

        /** Why the peer has given up. */
        final LinkedBlockingQueue<String> resignations = new LinkedBlockingQueue<>();

        /** Whether the link is in use as soon as it is there. */
        volatile boolean takes = true;

        @Override
        public CompletableFuture<Answer> onOffer(IncomingOffer offer) {
            CompletableFuture<Answer> answer = new CompletableFuture<>();
            attempts.add(new Attempt(offer, answer));
            return answer;
        }

        @Override
        public boolean isTaken() {
            return takes;
        }

        @Override
        public void onResigned(String why, InetSocketAddress from) {
            resignations.add(why);
        }

        /** The next offer. */
        public Attempt next() throws InterruptedException {
            Attempt attempt = attempts.poll(60, TimeUnit.SECONDS);
            if (attempt == null) {
                throw new AssertionError("no offer came");
            }
            return attempt;
        }

        /** The next offer, if one comes within so many milliseconds. */
        public @Nullable Attempt poll(int milliseconds) throws InterruptedException {
            return attempts.poll(milliseconds, TimeUnit.MILLISECONDS);
        }

        public boolean isEmpty() {
            return attempts.isEmpty();
        }
    }

    /** An offer, and what is to be completed with its answer. */
    public record Attempt(IncomingOffer incoming, CompletableFuture<Answer> answer) {}
}
