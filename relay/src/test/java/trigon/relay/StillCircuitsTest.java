package trigon.relay;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
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
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import trigon.stream.circuit.CircuitRequest;
import trigon.stream.hop.HopDevices;
import trigon.stream.loop.Acceptor;
import trigon.stream.loop.EventLoop;
import trigon.system.InterfaceAddress;
import trigon.system.kernel.TcpEnds;
import trigon.testsupport.Await;

/** Circuits through which nothing moves, and what the kernel says of them. */
@Timeout(300)
class StillCircuitsTest extends RelayedNodes {

    private final FakeTable table = new FakeTable();
    private final AtomicInteger iterations = new AtomicInteger();
    private EventLoop loop;
    private Circuits circuits;
    private Socket client;
    private Socket server;

    /** A stand-in for the kernel's table of connections. */
    private static final class FakeTable implements StillCircuits.Table {

        private volatile Set<TcpEnds> unanswered = Set.of();
        private volatile Set<TcpEnds> unacknowledged = Set.of();

        @Override
        public Set<TcpEnds> unanswered(int retransmits) {
            return unanswered;
        }

        @Override
        public Set<TcpEnds> unacknowledged() {
            return unacknowledged;
        }
    }

    @BeforeEach
    void openCircuit() throws IOException {
        InetAddress here = InetAddress.ofLiteral("127.0.12.2");
        List<InterfaceAddress> links =
                List.of(new InterfaceAddress(here, 24), new InterfaceAddress(InetAddress.ofLiteral("127.0.23.2"), 24));
        ServerSocketChannel listener = ServerSocketChannel.open();
        open.add(listener);
        loop = new EventLoop("test-relay", "a test fails", clock);
        open.add(loop);
        circuits = new Circuits(
                loop,
                new Admission(links, KEYS, (_, _) -> Optional.empty()),
                RelayLimits.DEFAULT,
                new HopDevices(List.of(), 0),
                table,
                clock);
        loop.watch(circuits);
        loop.watch(() -> {
            iterations.incrementAndGet();
            return Long.MAX_VALUE;
        });
        listener.configureBlocking(false);
        listener.bind(new InetSocketAddress(here, 0));
        Acceptor.prepare(loop, listener, circuits);
        loop.wakeUp();
        ServerSocket end = listen("127.0.23.3");
        client = connect((InetSocketAddress) listener.getLocalAddress());
        open(client, new CircuitRequest(List.of(at(end))), KEYS);
        server = accept(end);
    }

    @Test
    void endsIfTheKernelHearsNothingOfANeighbour() {
        table.unanswered = Set.of(relayedEnd(client));

        look(3);
        assertThat(circuits.counts().circuits()).isOne();
        look(3);
        assertThat(circuits.counts().circuits()).isZero();
    }

    /** NCCL may say nothing for hours. */
    @Test
    void staysWhileItIsIdle() {
        look(12);

        assertThat(circuits.counts().circuits()).isOne();
    }

    /** The first side may be gone for good: nobody reads from its connection any more, and so no keepalive tells. */
    @Test
    void endsIfOneSideHasEndedAndTheOtherDoesNot() throws Exception {
        client.getOutputStream().write(random(1000, 1));
        client.shutdownOutput();
        Await.until("all has been passed on", () -> circuits.counts().bytes() == 1000);

        look(3);
        assertThat(circuits.counts().circuits()).isOne();
        look(3);
        assertThat(circuits.counts().circuits()).isZero();
        assertThat(server.getInputStream().readAllBytes())
                .as("what had come before")
                .isEqualTo(random(1000, 1));
    }

    @Test
    void staysWhileTheOtherSideStillSends() throws Exception {
        client.shutdownOutput();
        assertThat(server.getInputStream().read()).isNegative();

        for (int i = 0; i < 12; i++) {
            server.getOutputStream().write(i);
            assertThat(client.getInputStream().read()).isEqualTo(i);
            look(1);
        }

        assertThat(circuits.counts().circuits()).isOne();
    }

    /** The relay has passed on all, and its kernel not yet. */
    @Test
    void staysWhileTheReceiversKernelHasNoRoom() throws Exception {
        client.getOutputStream().write(random(1000, 2));
        client.shutdownOutput();
        Await.until("all has been passed on", () -> circuits.counts().bytes() == 1000);
        table.unacknowledged = Set.of(relayedEnd(server));

        look(12);
        assertThat(circuits.counts().circuits()).isOne();
        table.unacknowledged = Set.of();
        look(1);
        assertThat(circuits.counts().circuits()).isZero();
    }

    /** One side has ended, and the other waits with what it sends for the first to read. */
    @Test
    void staysWhileTheRelayHoldsBytes() throws Exception {
        client.shutdownOutput();
        assertThat(server.getInputStream().read()).isNegative();
        var _ = threads.submit(() -> say(server, new byte[64 << 20]));
        Await.until("the first bytes come", () -> circuits.counts().bytes() > 0); // unlooked at: nothing is owed before
        long[] before = {-1};
        Await.until("the receiver's buffers are full", () -> {
            look(1);
            long bytes = circuits.counts().bytes();
            boolean still = bytes == before[0];
            before[0] = bytes;
            return still;
        });

        look(12);

        assertThat(circuits.counts().circuits()).isOne();
    }

    /** The connection to that end, as the relay's kernel has it. */
    private static TcpEnds relayedEnd(Socket end) {
        return new TcpEnds(
                (InetSocketAddress) end.getRemoteSocketAddress(), (InetSocketAddress) end.getLocalSocketAddress());
    }

    private void look(int times) {
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
