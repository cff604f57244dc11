package trigon.software;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The attendant outlives what it is given to do. */
@Timeout(180)
class AttendantTest {

    @Test
    void livesThroughALackOfMemory() throws InterruptedException {
        try (Attendant attendant = new Attendant("test-attendant")) {
            CountDownLatch done = new CountDownLatch(2);
            attendant.execute(() -> {
                throw new OutOfMemoryError("for a test");
            });
            attendant.schedule(
                    new Timer(() -> {
                        throw new OutOfMemoryError("for a test");
                    }),
                    0);
            attendant.execute(done::countDown);
            attendant.schedule(new Timer(done::countDown), TimeUnit.MILLISECONDS.toNanos(2));

            assertThat(done.await(30, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    void firesATimerOnceHoweverOftenItIsScheduled() throws InterruptedException {
        try (Attendant attendant = new Attendant("test-attendant")) {
            AtomicInteger fired = new AtomicInteger();
            CountDownLatch later = new CountDownLatch(1);
            Timer often = new Timer(fired::incrementAndGet);
            Timer never = new Timer(fired::incrementAndGet);
            for (int i = 0; i < 1000; i++) {
                attendant.schedule(often, TimeUnit.MILLISECONDS.toNanos(50 + i % 3));
                attendant.schedule(never, TimeUnit.MILLISECONDS.toNanos(50));
            }
            attendant.cancel(never);
            attendant.schedule(new Timer(later::countDown), TimeUnit.MILLISECONDS.toNanos(100));

            assertThat(later.await(30, TimeUnit.SECONDS)).isTrue();
            assertThat(fired).hasValue(1);
        }
    }

    @Test
    void takesNothingOnceItIsClosed() throws IOException {
        for (boolean used : new boolean[] {false, true}) {
            Attendant attendant = new Attendant("test-attendant");
            if (used) {
                attendant.wakeUp();
            }
            attendant.close();
            attendant.execute(() -> {});
            attendant.wakeUp();
            try (SocketChannel channel = SocketChannel.open()) {
                channel.configureBlocking(false);
                assertThatThrownBy(() -> attendant.register(channel, SelectionKey.OP_CONNECT, () -> {}))
                        .isInstanceOf(IOException.class)
                        .hasMessageContaining("test-attendant has ended");
            }
        }
    }
}
