package trigon.transport.failover;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import trigon.system.Memory;
import trigon.testsupport.LedgerAssert;
import trigon.testsupport.TcpSockets;
import trigon.transport.connect.MovingPool;
import trigon.transport.testsupport.Connected;
import trigon.transport.testsupport.TestCluster;
import trigon.transport.testsupport.TestNode;

/**
 * A cable takes all connections over it with it: a few threads move them, however many they are. {@code
 * -Dtrigon.sessions=} says how many.
 */
@Timeout(600)
class ManySessionsCutTest {

    private static final int SESSIONS = Integer.getInteger("trigon.sessions", 150);
    private static final int TAG = 5;
    private static final int BYTES = Long.BYTES;

    /** Those of both nodes, which are one process here. */
    private static final int MAX_THREADS = 2 * MovingPool.MAX;

    private record Session(Connected comms, long from, long fromHandle, long to, long toHandle) {}

    private TestNode a;
    private TestNode b;

    @BeforeEach
    void open(@TempDir Path directory) {
        TestCluster cluster = TestCluster.software(directory, """
            a: {nics: [{address: 127.1.12.1/24}, {address: 127.1.13.1/24}]}
            b: {nics: [{address: 127.1.12.2/24}, {address: 127.1.13.2/24}]}
            """, """
            handshake: {timeout: 2m, peerTimeout: 20s}
            """);
        a = cluster.open("a");
        b = cluster.open("b");
    }

    @AfterEach
    void nothingIsLeftOpen() {
        a.close();
        b.close();
        LedgerAssert.assertNothingOpen(a.verbs());
        LedgerAssert.assertNothingOpen(b.verbs());
    }

    @Test
    void allGoOnByAFewThreads() throws Exception {
        List<Session> sessions = new ArrayList<>();
        for (int number = 0; number < SESSIONS; number++) {
            sessions.add(connect());
        }
        exchange(sessions, 1);

        AtomicBoolean over = new AtomicBoolean();
        AtomicInteger most = new AtomicInteger();
        Thread watch = Thread.ofPlatform().start(() -> {
            while (!over.get()) {
                most.accumulateAndGet(failoverThreads(), Math::max);
            }
        });
        try {
            List<Integer> cut = TcpSockets.between(Set.of("127.1.12.1", "127.1.12.2"), _ -> true);
            assertThat(cut).hasSizeGreaterThanOrEqualTo(2 * SESSIONS);
            cut.forEach(TcpSockets::shutDownUnlessOver);
            exchange(sessions, 2);
        } finally {
            over.set(true);
            watch.join();
        }
        assertThat(most.get()).isBetween(1, MAX_THREADS);
        exchange(sessions, 3);
    }

    private Session connect() {
        Connected comms = new Connected(a, b);
        long from = a.allocate(BYTES);
        long to = b.allocate(BYTES);
        return new Session(
                comms, from, a.register(comms.sendComm, from, BYTES), to, b.register(comms.receiveComm, to, BYTES));
    }

    /** All of them at the same time: the requests of one wait while others move. */
    private void exchange(List<Session> sessions, long round) {
        long[] receives = new long[sessions.size()];
        long[] sends = new long[sessions.size()];
        for (int number = 0; number < sessions.size(); number++) {
            Session session = sessions.get(number);
            Memory.putLong(session.from, number * 10L + round);
            receives[number] = Connected.retry(
                    () -> b.plugin.irecv(session.comms.receiveComm, session.to, BYTES, TAG, session.toHandle));
            sends[number] = Connected.retry(
                    () -> a.plugin.isend(session.comms.sendComm, session.from, BYTES, TAG, session.fromHandle));
        }
        for (int number = 0; number < sessions.size(); number++) {
            assertThat(Connected.finish(a, sends[number]))
                    .as("session %d", number)
                    .isEqualTo(BYTES);
            assertThat(Connected.finish(b, receives[number]))
                    .as("session %d", number)
                    .isEqualTo(BYTES);
            assertThat(Memory.getLong(sessions.get(number).to)).isEqualTo(number * 10L + round);
        }
    }

    private static int failoverThreads() {
        Thread[] threads = new Thread[Thread.activeCount() + 1000];
        int count = Thread.enumerate(threads);
        return (int) Arrays.stream(threads, 0, count)
                .map(Thread::getName)
                .filter(name -> name.startsWith("trigon-failover"))
                .count();
    }
}
