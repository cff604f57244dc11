package trigon.relay;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import trigon.hop.HopDevices;
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
            RelayLoop.Acceptor acceptor = from -> {
                if (tries.incrementAndGet() <= FAILURES) {
                    throw new IOException("Too many open files");
                }
                return from.accept();
            };
            RelayLoop loop = new RelayLoop(
                    selector, admission, RelayLimits.DEFAULT, new HopDevices(List.of(), 0), acceptor, clock);

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
