package trigon.software.connection;

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

/** The event loop outlives what it is given to do. */
@Timeout(180)
class EventLoopTest {

    @Test
    void livesThroughALackOfMemory() throws InterruptedException {
        try (EventLoop eventLoop = new EventLoop("test-loop")) {
            CountDownLatch done = new CountDownLatch(2);
            eventLoop.execute(() -> {
                throw new OutOfMemoryError("for a test");
            });
            eventLoop.schedule(
                    new Timer(() -> {
                        throw new OutOfMemoryError("for a test");
                    }),
                    0);
            eventLoop.execute(done::countDown);
            eventLoop.schedule(new Timer(done::countDown), TimeUnit.MILLISECONDS.toNanos(2));

            assertThat(done.await(30, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    void firesATimerOnceHoweverOftenItIsScheduled() throws InterruptedException {
        try (EventLoop eventLoop = new EventLoop("test-loop")) {
            AtomicInteger fired = new AtomicInteger();
            CountDownLatch later = new CountDownLatch(1);
            Timer often = new Timer(fired::incrementAndGet);
            Timer never = new Timer(fired::incrementAndGet);
            for (int i = 0; i < 1000; i++) {
                eventLoop.schedule(often, TimeUnit.MILLISECONDS.toNanos(50 + i % 3));
                eventLoop.schedule(never, TimeUnit.MILLISECONDS.toNanos(50));
            }
            eventLoop.cancel(never);
            eventLoop.schedule(new Timer(later::countDown), TimeUnit.MILLISECONDS.toNanos(100));

            assertThat(later.await(30, TimeUnit.SECONDS)).isTrue();
            assertThat(fired).hasValue(1);
        }
    }

    @Test
    void takesNothingOnceItIsClosed() throws IOException {
        for (boolean used : new boolean[] {false, true}) {
            EventLoop eventLoop = new EventLoop("test-loop");
            if (used) {
                eventLoop.wakeUp();
            }
            eventLoop.close();
            eventLoop.execute(() -> {});
            eventLoop.wakeUp();
            try (SocketChannel channel = SocketChannel.open()) {
                channel.configureBlocking(false);
                assertThatThrownBy(() -> eventLoop.register(channel, SelectionKey.OP_CONNECT, () -> {}))
                        .isInstanceOf(IOException.class)
                        .hasMessageContaining("test-loop has ended");
            }
        }
    }
}
