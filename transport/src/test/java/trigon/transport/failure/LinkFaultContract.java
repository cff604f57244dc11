package trigon.transport.failure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static trigon.transport.testsupport.Connected.finish;
import static trigon.transport.testsupport.Connected.retry;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import trigon.nccl.NcclResult;
import trigon.nccl.NoConnectionException;
import trigon.system.Memory;
import trigon.testsupport.Await;
import trigon.transport.testsupport.Connected;
import trigon.transport.testsupport.TestCluster;
import trigon.transport.testsupport.TestNode;

/**
 * What becomes of connections that end with their path when packets are lost for a while, or an address is gone. A
 * subclass says what links there are, and does to them what is to be done.
 */
@Timeout(180)
public abstract class LinkFaultContract {

    private static final int TAG = 3;
    private static final int BYTES = 64 << 10;
    private static final int GAPS = 4;
    private static final long REMOTE_ERROR = -NcclResult.REMOTE_ERROR.code();

    private TestCluster cluster;
    private TestNode a;
    private TestNode b;

    /** Two nodes, a and b. */
    protected abstract TestCluster cluster(Path directory);

    /** All packets from b to a are lost from now on. */
    protected abstract void cut() throws Exception;

    /** Ends {@link #cut}. */
    protected abstract void mend() throws Exception;

    /** Takes a's address away; returns once its device has no GID for it. */
    protected abstract void removeAddress() throws Exception;

    /** Gives it back, and the GID with it. */
    protected abstract void restoreAddress() throws Exception;

    @BeforeEach
    void openNodes(@TempDir Path directory) throws IOException {
        cluster = cluster(directory).withoutFailover();
        Files.writeString(cluster.file(), "handshake: {timeout: 10s, peerTimeout: 8s}\n", StandardOpenOption.APPEND);
        open();
    }

    private void open() {
        a = cluster.open("a");
        b = cluster.open("b");
    }

    @AfterEach
    void nothingIsLeftOpen() {
        a.close();
        b.close();
        assertThat(a.verbs().ledger().outstanding()).isEmpty();
        assertThat(b.verbs().ledger().outstanding()).isEmpty();
    }

    /**
     * Each gap lasts until nothing moves, but is shorter than the limits, also where the machine is slow: after 3 s TCP
     * tries again only when 6 s are over, and the peer is not heard before.
     */
    @Test
    void aFlappingLinkHoldsTheTrafficUpAndNoMore() throws Exception {
        a.close();
        b.close();
        String settings = Files.readString(cluster.file());
        Files.writeString(cluster.file(), settings.replace("peerTimeout: 8s", "peerTimeout: 30s"));
        open();
        Pipe pipe = new Pipe(new Connected(a, b));
        AtomicBoolean enough = new AtomicBoolean();
        AtomicInteger messages = new AtomicInteger();
        try (ExecutorService threads = Executors.newSingleThreadExecutor()) {
            Future<?> traffic = threads.submit(() -> {
                while (!enough.get()) {
                    pipe.carry(messages.get());
                    messages.incrementAndGet();
                }
            });
            try {
                awaitMore(messages, traffic);
                for (int gap = 0; gap < GAPS; gap++) {
                    cut();
                    try {
                        awaitStillness(messages, traffic);
                    } finally {
                        mend();
                    }
                    awaitMore(messages, traffic);
                }
            } finally {
                enough.set(true);
            }
            traffic.get(60, TimeUnit.SECONDS);
        }
    }

    private static void awaitMore(AtomicInteger messages, Future<?> traffic) throws Exception {
        int enough = messages.get() + 10;
        Await.until(
                () -> messages + " of " + enough + " messages",
                Await.DEADLINE,
                () -> messages.get() >= enough || traffic.isDone());
        requireRunning(traffic);
    }

    private static void awaitStillness(AtomicInteger messages, Future<?> traffic) throws Exception {
        long deadline = System.nanoTime() + Await.DEADLINE.toNanos();
        int before = -1;
        while (messages.get() != before) {
            requireRunning(traffic);
            assertThat(System.nanoTime()).as("the cut link carries messages").isLessThan(deadline);
            before = messages.get();
            Thread.sleep(700); // stillness is a length of time; a machine that is slow makes the gap shorter
        }
    }

    private static void requireRunning(Future<?> traffic) throws Exception {
        if (traffic.isDone()) {
            traffic.get(); // why
            throw new AssertionError("the traffic has ended");
        }
    }

    @Test
    void anAddressThatIsRemovedUnderWayFailsBothEnds() throws Exception {
        Pipe pipe = new Pipe(new Connected(a, b));
        pipe.carry(1);
        removeAddress();
        try {
            long receive = pipe.receive();
            assertThat(pipe.sendUntilItFails()).isEqualTo(REMOTE_ERROR);
            assertThat(finish(b, receive)).isEqualTo(REMOTE_ERROR);
        } finally {
            restoreAddress();
        }
    }

    @Test
    void anAddressThatIsRemovedBeforeFailsTheConnectAndTheNextOneWorks() throws Exception {
        removeAddress();
        try {
            assertThatThrownBy(() -> new Connected(a, b))
                    .isInstanceOf(NoConnectionException.class)
                    .hasMessageContaining("no connection to");
        } finally {
            restoreAddress();
        }
        new Pipe(new Connected(a, b)).carry(2);
    }

    @Test
    void aNodeThatIsOpenedWithoutItsAddressSaysWhichItMisses() throws Exception {
        a.close();
        removeAddress();
        try {
            assertThatThrownBy(() -> a = cluster.open("a")).hasMessageContaining("10.0.12.1");
        } finally {
            restoreAddress();
        }
        a = cluster.open("a");
        new Pipe(new Connected(a, b)).carry(3);
    }

    /** Messages from a to b, each of which is checked. Used by one thread at a time. */
    private final class Pipe {

        private final Connected ab;
        private final long from = a.allocate(BYTES);
        private final long to = b.allocate(BYTES);
        private final long fromHandle;
        private final long toHandle;

        Pipe(Connected ab) {
            this.ab = ab;
            fromHandle = a.register(ab.sendComm, from, BYTES);
            toHandle = b.register(ab.receiveComm, to, BYTES);
        }

        void carry(int number) {
            for (int at = 0; at < BYTES; at += Integer.BYTES) {
                Memory.putInt(from + at, number * 31 + at);
            }
            long receive = receive();
            long send = retry(() -> a.plugin.isend(ab.sendComm, from, BYTES, TAG, fromHandle));
            assertThat(finish(a, send)).isEqualTo(BYTES);
            assertThat(finish(b, receive)).isEqualTo(BYTES);
            assertThat(Memory.segment(to, BYTES).mismatch(Memory.segment(from, BYTES)))
                    .as("message %d", number)
                    .isEqualTo(-1);
        }

        long receive() {
            return retry(() -> b.plugin.irecv(ab.receiveComm, to, BYTES, TAG, toHandle));
        }

        long sendUntilItFails() {
            return ab.sendUntilItFails(from, BYTES, TAG, fromHandle);
        }
    }
}
