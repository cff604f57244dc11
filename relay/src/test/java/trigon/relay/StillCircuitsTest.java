package trigon.relay;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.channels.ServerSocketChannel;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import trigon.stream.circuit.CircuitRequest;
import trigon.stream.hop.HopDevices;
import trigon.stream.loop.Acceptor;
import trigon.stream.loop.EventLoop;
import trigon.system.InterfaceAddress;
import trigon.system.kernel.TcpEnds;
import trigon.testsupport.Await;

@Timeout(300)
class StillCircuitsTest extends RelayedNodes {

    /** Twice: once nobody answers the relay, and once the receiver only does not read. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aStillCircuitEndsIfTheKernelHearsNothingOfANeighbour(boolean unanswered) throws Exception {
        AtomicReference<Set<TcpEnds>> sentAgain = new AtomicReference<>(Set.of());
        InetAddress here = InetAddress.ofLiteral("127.0.12.2");
        List<InterfaceAddress> links =
                List.of(new InterfaceAddress(here, 24), new InterfaceAddress(InetAddress.ofLiteral("127.0.23.2"), 24));
        try (ServerSocketChannel listener = ServerSocketChannel.open();
                EventLoop loop = new EventLoop("test-relay", "a test fails", clock)) {
            Circuits circuits = new Circuits(
                    loop,
                    new Admission(links, KEYS, (_, _) -> Optional.empty()),
                    RelayLimits.DEFAULT,
                    new HopDevices(List.of(), 0),
                    _ -> sentAgain.get(),
                    clock);
            loop.watch(circuits);
            AtomicInteger iterations = new AtomicInteger();
            loop.watch(() -> {
                iterations.incrementAndGet();
                return Long.MAX_VALUE;
            });
            listener.configureBlocking(false);
            listener.bind(new InetSocketAddress(here, 0));
            Acceptor.prepare(loop, listener, circuits);
            loop.wakeUp();
            ServerSocket end = listen("127.0.23.3");
            Socket client = connect((InetSocketAddress) listener.getLocalAddress());
            open(client, new CircuitRequest(List.of(at(end))), KEYS);
            accept(end).close(); // half of it
            assertThat(client.getInputStream().read()).isNegative();
            if (unanswered) {
                sentAgain.set(
                        Set.of(new TcpEnds((InetSocketAddress) client.getRemoteSocketAddress(), (InetSocketAddress)
                                client.getLocalSocketAddress())));
            }

            look(loop, iterations, 3);
            assertThat(circuits.counts().circuits()).isOne();
            look(loop, iterations, 3);
            assertThat(circuits.counts().circuits()).isEqualTo(unanswered ? 0 : 1);
        }
    }

    private void look(EventLoop loop, AtomicInteger iterations, int times) {
        for (int i = 0; i < times; i++) {
            clock.advance(Duration.ofNanos(StillCircuits.LOOK_NANOS));
            int before = iterations.get();
            Await.until("a whole iteration", () -> {
                loop.wakeUp();
                return iterations.get() >= before + 2;
            });
        }
    }
}
