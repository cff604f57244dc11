package trigon.stream.loop;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import trigon.testsupport.Await;
import trigon.testsupport.ManualClock;

@Timeout(180)
class AcceptorTest implements Acceptor.Owner {

    private static final int FAILURES = 3;

    private final ManualClock clock = new ManualClock();
    private final AtomicInteger failures = new AtomicInteger();
    private final AtomicInteger iterations = new AtomicInteger();
    private final AtomicReference<SocketChannel> accepted = new AtomicReference<>();

    @Override
    public void onAccepted(SocketChannel channel) {
        accepted.set(channel);
    }

    @Override
    public void onAcceptFailed(Throwable cause) {
        failures.incrementAndGet();
    }

    @Test
    void restsAfterAFailureAndAcceptsLater() throws Exception {
        AtomicInteger tries = new AtomicInteger();
        try (EventLoop loop = new EventLoop("test-loop", "a test fails", clock);
                ServerSocketChannel listener = ServerSocketChannel.open()) {
            listener.configureBlocking(false);
            listener.bind(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 0));
            Acceptor.Source source = () -> {
                if (tries.getAndIncrement() < FAILURES) {
                    throw new IOException("Too many open files");
                }
                return listener.accept();
            };
            loop.watch(() -> {
                iterations.incrementAndGet();
                return Long.MAX_VALUE;
            });
            Acceptor.prepare(loop, listener, source, this);
            try (SocketChannel client = SocketChannel.open(listener.getLocalAddress())) {
                loop.wakeUp();
                for (int failure = 1; failure <= FAILURES; failure++) {
                    int count = failure;
                    Await.until("failure " + count, () -> failures.get() == count);
                    int before = iterations.get();
                    Await.until("a whole iteration", () -> {
                        loop.wakeUp();
                        return iterations.get() >= before + 2;
                    });
                    assertThat(failures).as("while it rests").hasValue(count);
                    clock.advance(Duration.ofNanos(EventLoop.RETRY_NANOS));
                    loop.wakeUp();
                }
                Await.until("the connection is accepted", () -> accepted.get() != null);
                assertThat(accepted.get().getRemoteAddress()).isEqualTo(client.getLocalAddress());
                accepted.get().close();
                assertThat(failures).hasValue(FAILURES);
            }
        }
    }
}
