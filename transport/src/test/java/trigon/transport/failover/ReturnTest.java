package trigon.transport.failover;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import trigon.testsupport.Await;
import trigon.testsupport.LedgerAssert;
import trigon.testsupport.Seed;
import trigon.testsupport.TcpSockets;
import trigon.transport.testsupport.CapturedLog;
import trigon.transport.testsupport.Connected;
import trigon.transport.testsupport.RaisingVerbs;
import trigon.transport.testsupport.TestCluster;
import trigon.transport.testsupport.TestNode;

/** A connection has left its link, and the link is well again: it goes back while messages flow, or between them. */
@Timeout(180)
class ReturnTest {

    private static final Set<String> ADDRESSES = Set.of("127.1.14.1", "127.1.14.2");

    private final long seed = Seed.next();
    private final CapturedLog log = new CapturedLog();
    private RaisingVerbs verbs;
    private TestNode a;
    private TestNode b;
    private String home;

    @BeforeEach
    void open(@TempDir Path directory) {
        TestCluster cluster = TestCluster.software(directory, """
                a: {nics: [{address: 127.1.14.1/24}, {address: 127.1.15.1/24}]}
                b: {nics: [{address: 127.1.14.2/24}, {address: 127.1.15.2/24}]}
                """, "");
        a = new TestNode(cluster, "a", RaisingVerbs::new);
        b = cluster.open("b");
        verbs = (RaisingVerbs) a.verbs();
        home = a.links.getFirst().deviceName();
    }

    @AfterEach
    void nothingIsLeftOpen() {
        a.close();
        b.close();
        log.close();
        LedgerAssert.assertNothingOpen(a.verbs());
        LedgerAssert.assertNothingOpen(b.verbs());
    }

    @Test
    void underMessagesNothingIsSentAgain() throws Exception {
        Messages messages = new Messages(new Connected(a, b), new Random(seed));
        try (ExecutorService threads = Executors.newCachedThreadPool()) {
            List<Future<?>> ends = List.of(threads.submit(messages::send), threads.submit(messages::receive));
            try {
                await(messages, 100);
                leave();
                await(messages, 100);
                comeBack();
                await(messages, 100);
            } finally {
                messages.last = true;
            }
            for (Future<?> end : ends) {
                end.get();
            }
        }
        messages.close();
    }

    @Test
    void oneThatHasNothingToSendReturnsAsWell() {
        Connected connection = new Connected(a, b);
        long from = a.allocate(8);
        long to = b.allocate(8);
        long fromHandle = a.register(connection.sendComm, from, 8);
        long toHandle = b.register(connection.receiveComm, to, 8);
        message(connection, from, fromHandle, to, toHandle);

        leave();
        message(connection, from, fromHandle, to, toHandle);
        comeBack();
        message(connection, from, fromHandle, to, toHandle);
    }

    private static void message(Connected connection, long from, long fromHandle, long to, long toHandle) {
        long receive =
                Connected.retry(() -> connection.receiver.plugin.irecv(connection.receiveComm, to, 8, 5, toHandle));
        long send = Connected.retry(() -> connection.sender.plugin.isend(connection.sendComm, from, 8, 5, fromHandle));
        assertThat(Connected.finish(connection.receiver, receive)).isEqualTo(8);
        assertThat(Connected.finish(connection.sender, send)).isEqualTo(8);
    }

    /** The link's connections are cut, and its device takes no more of them. */
    private void leave() {
        verbs.refusing = home;
        TcpSockets.between(ADDRESSES, _ -> true).forEach(TcpSockets::shutDownUnlessOver);
        log.await("WARN " + home, "path to b down: ");
        log.await("INFO", "the connection to b goes on over", "instead of " + home);
    }

    private void comeBack() {
        verbs.refusing = "";
        log.await("INFO", "the connection to b returns to " + home);
        log.await("INFO", "the connection from a returns to ");
        log.await("INFO " + home, "path to b up again after ");
        assertThat(log.lines().stream().filter(line -> line.startsWith("WARN") && line.contains(" down: ")))
                .as("each end's path, once; seed %d", seed)
                .hasSize(2);
    }

    private void await(Messages messages, int more) {
        long all = messages.received + more;
        Await.until(
                () -> "seed %d: message %d; %s, %s".formatted(seed, all, messages, log.lines()),
                Await.DEADLINE,
                () -> messages.received >= all);
    }
}
