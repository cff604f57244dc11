package trigon.stream.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import trigon.system.NanoClock;
import trigon.testsupport.Await;

/** The event loop outlives what it is given to do. */
@Timeout(180)
class EventLoopTest {

    @Test
    void livesThroughALackOfMemory() throws InterruptedException {
        try (EventLoop eventLoop = new EventLoop("test-loop", "a test fails", NanoClock.SYSTEM)) {
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

            assertThat(done.await(Await.DEADLINE.toSeconds(), TimeUnit.SECONDS)).isTrue();
        }
    }

    /** What comes stays for its owner, whom nobody keeps from closing the channel. */
    @Test
    void looksAtAnothersChannelUntilSomethingComes() throws Exception {
        InetSocketAddress any = new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 0);
        AtomicInteger calls = new AtomicInteger();
        try (DatagramChannel other = DatagramChannel.open().bind(any);
                EventLoop eventLoop = new EventLoop("test-loop", "a test fails", NanoClock.SYSTEM)) {
            other.configureBlocking(false);
            eventLoop.whenReady(other, calls::incrementAndGet);
            try (DatagramChannel sender = DatagramChannel.open()) {
                sender.send(ByteBuffer.allocate(1), other.getLocalAddress());
                Await.until("the datagram", () -> calls.get() == 1);
                sender.send(ByteBuffer.allocate(1), other.getLocalAddress());
            }
            CountDownLatch later = new CountDownLatch(1);
            eventLoop.schedule(new Timer(later::countDown), TimeUnit.MILLISECONDS.toNanos(1));

            assertThat(later.await(Await.DEADLINE.toSeconds(), TimeUnit.SECONDS))
                    .isTrue();
            assertThat(calls).hasValue(1);
            assertThat(other.receive(ByteBuffer.allocate(2))).isNotNull();
        }
    }

    @Test
    void leavesAnothersChannelOpen() throws Exception {
        try (DatagramChannel other = DatagramChannel.open()) {
            other.configureBlocking(false);
            try (EventLoop eventLoop = new EventLoop("test-loop", "a test fails", NanoClock.SYSTEM)) {
                eventLoop.whenReady(other, () -> {});
            }
            assertThat(other.isOpen()).isTrue();
        }
    }

    @Test
    void firesATimerOnceHoweverOftenItIsScheduled() throws InterruptedException {
        try (EventLoop eventLoop = new EventLoop("test-loop", "a test fails", NanoClock.SYSTEM)) {
            AtomicInteger fired = new AtomicInteger();
            CountDownLatch later = new CountDownLatch(1);
            Timer often = new Timer(fired::incrementAndGet);
            Timer never = new Timer(fired::incrementAndGet);
            CountDownLatch scheduled = new CountDownLatch(1);
            eventLoop.execute(() -> awaitUninterrupted(scheduled)); // meanwhile, none fires
            for (int i = 0; i < 1000; i++) {
                eventLoop.schedule(often, i % 3);
                eventLoop.schedule(never, 0);
            }
            eventLoop.cancel(never);
            eventLoop.schedule(new Timer(later::countDown), TimeUnit.MILLISECONDS.toNanos(1));
            scheduled.countDown();

            assertThat(later.await(Await.DEADLINE.toSeconds(), TimeUnit.SECONDS))
                    .isTrue();
            assertThat(fired).hasValue(1);
        }
    }

    private static void awaitUninterrupted(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void takesNothingOnceItIsClosed() throws IOException {
        for (boolean used : new boolean[] {false, true}) {
            EventLoop eventLoop = new EventLoop("test-loop", "a test fails", NanoClock.SYSTEM);
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
