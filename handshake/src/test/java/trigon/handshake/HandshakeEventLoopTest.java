package trigon.handshake;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(180)
class HandshakeEventLoopTest {

    @Test
    void doesATaskAgainAndAgainOnItsThread() throws InterruptedException {
        CountDownLatch times = new CountDownLatch(3);
        Set<String> threads = ConcurrentHashMap.newKeySet();
        try (HandshakeEventLoop loop = HandshakeEventLoop.open()) {
            loop.repeat(
                    () -> {
                        threads.add(Thread.currentThread().getName());
                        times.countDown();
                    },
                    Duration.ofMillis(1));

            assertThat(times.await(60, TimeUnit.SECONDS)).isTrue();
        }
        assertThat(threads).containsExactly(HandshakeEventLoop.THREAD_NAME);
    }
}
