package trigon.relay;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import trigon.stream.circuit.CircuitOpening;
import trigon.stream.circuit.CircuitRequest;
import trigon.stream.hop.HopDevices;
import trigon.system.InterfaceAddress;
import trigon.system.kernel.UnansweredConnections.Ends;
import trigon.testsupport.Await;
import trigon.testsupport.ManualClock;

/** The relay's loop on the test's thread. */
@Timeout(300)
class RelayLoopTest {

    private static final int FAILURES = 3;

    private final ManualClock clock = new ManualClock();

    @Test
    void aListenerThatCannotAcceptRestsAndIsAskedAgain() throws Exception {
        try (Selector selector = Selector.open();
                ServerSocketChannel listener = ServerSocketChannel.open()) {
            listener.configureBlocking(false);
            listener.bind(new InetSocketAddress(InetAddress.ofLiteral("127.0.12.2"), 0));
            SelectionKey key = listener.register(selector, SelectionKey.OP_ACCEPT);
            AtomicInteger tries = new AtomicInteger();
            Admission admission = new Admission(List.of(), RelayedNodes.KEYS, (_, _) -> Optional.empty());
            RelayLoop.Kernel kernel = from -> {
                if (tries.incrementAndGet() <= FAILURES) {
                    throw new IOException("Too many open files");
                }
                return from.accept();
            };
            RelayLoop loop = new RelayLoop(
                    selector, admission, RelayLimits.DEFAULT, new HopDevices(List.of(), 0), kernel, clock);

            try (Socket client = new Socket(
                    InetAddress.ofLiteral("127.0.12.2"), listener.socket().getLocalPort())) {
                for (int failures = 1; failures <= FAILURES; failures++) {
                    iterateUntil(loop, tries, failures);
                    assertThat(key.interestOps()).isZero();
                    clock.advance(Duration.ofSeconds(1));
                }
                iterateUntil(loop, tries, FAILURES + 1);
                client.setSoTimeout((int) Await.DEADLINE.toMillis());
                assertThat(client.getInputStream().readNBytes(24)).hasSize(24);
            }
            assertThat(key.interestOps()).isEqualTo(SelectionKey.OP_ACCEPT);
            assertThat(loop.counts().strangers()).isEqualTo(1);
            loop.close();
            loop.run(); // closes what it took
        }
    }

    /** Twice: once nobody answers the relay, and once the receiver only does not read. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aStillCircuitEndsIfTheKernelHearsNothingOfANeighbour(boolean unanswered) throws Exception {
        AtomicReference<Set<Ends>> sentAgain = new AtomicReference<>(Set.of());
        RelayLoop.Kernel kernel = new RelayLoop.Kernel() {
            @Override
            public SocketChannel accept(ServerSocketChannel from) throws IOException {
                return from.accept();
            }

            @Override
            public Set<Ends> unanswered(int retransmits) {
                return sentAgain.get();
            }
        };
        InetAddress here = InetAddress.ofLiteral("127.0.12.2");
        List<InterfaceAddress> links =
                List.of(new InterfaceAddress(here, 24), new InterfaceAddress(InetAddress.ofLiteral("127.0.23.2"), 24));
        try (Selector selector = Selector.open();
                ServerSocketChannel listener = ServerSocketChannel.open();
                ServerSocket end = new ServerSocket(0, 5, InetAddress.ofLiteral("127.0.23.3"));
                ExecutorService threads = Executors.newSingleThreadExecutor()) {
            listener.configureBlocking(false);
            listener.bind(new InetSocketAddress(here, 0));
            listener.register(selector, SelectionKey.OP_ACCEPT);
            RelayLoop loop = new RelayLoop(
                    selector,
                    new Admission(links, RelayedNodes.KEYS, (_, _) -> Optional.empty()),
                    RelayLimits.DEFAULT,
                    new HopDevices(List.of(), 0),
                    kernel,
                    clock);
            try (Socket client = new Socket(here, listener.socket().getLocalPort())) {
                client.setSoTimeout((int) Await.DEADLINE.toMillis());
                CircuitRequest request = new CircuitRequest(List.of(RelayedNodes.at(end)));
                var opened =
                        threads.submit(() -> RelayedNodes.say(client, new CircuitOpening(request, RelayedNodes.KEYS)));
                iterateUntil(loop, "the circuit is open", opened::isDone);
                Socket server = end.accept();
                server.close(); // half of it
                iterateUntil(loop, "the end is passed on", () -> hasEnded(client));

                sentAgain.set(
                        unanswered
                                ? Set.of(new Ends(
                                        (InetSocketAddress) client.getRemoteSocketAddress(),
                                        (InetSocketAddress) client.getLocalSocketAddress()))
                                : Set.of());
                look(loop, selector, 3);
                assertThat(loop.counts().circuits()).isOne();
                look(loop, selector, 3);
                assertThat(loop.counts().circuits()).isEqualTo(unanswered ? 0 : 1);
            }
            loop.close();
            loop.run(); // closes what it took
        }
    }

    private void look(RelayLoop loop, Selector selector, int times) {
        for (int i = 0; i < times; i++) {
            selector.wakeup();
            clock.advance(Duration.ofNanos(StillCircuits.LOOK_NANOS));
            iterate(loop);
        }
    }

    private static boolean hasEnded(Socket client) {
        try {
            client.setSoTimeout(1);
            return client.getInputStream().read() < 0;
        } catch (SocketTimeoutException e) {
            return false;
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static void iterateUntil(RelayLoop loop, String what, BooleanSupplier isSo) {
        Await.until(what, () -> {
            iterate(loop);
            return isSo.getAsBoolean();
        });
    }

    private static void iterateUntil(RelayLoop loop, AtomicInteger tries, int count) {
        Await.until("the listener is asked " + count + " times", () -> {
            iterate(loop);
            return tries.get() >= count;
        });
    }

    private static void iterate(RelayLoop loop) {
        try {
            loop.iterate();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
