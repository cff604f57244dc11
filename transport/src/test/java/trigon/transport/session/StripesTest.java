package trigon.transport.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static trigon.transport.testsupport.Connected.finish;
import static trigon.transport.testsupport.Connected.retry;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import trigon.handshake.message.LinkAddress;
import trigon.handshake.message.ListenHandle;
import trigon.nccl.NcclResult;
import trigon.nccl.NoConnectionException;
import trigon.system.Memory;
import trigon.testsupport.LedgerAssert;
import trigon.transport.protocol.MessageProtocol;
import trigon.transport.testsupport.CapturedLog;
import trigon.transport.testsupport.Connected;
import trigon.transport.testsupport.RaisingVerbs;
import trigon.transport.testsupport.TestCluster;
import trigon.transport.testsupport.TestNode;
import trigon.verbs.LinkKind;
import trigon.verbs.QueuePair;
import trigon.verbs.QueuePairAttributes;
import trigon.verbs.QueuePairStateCode;

/** Connections of several queue pairs: which paths they take, what goes over each, and what becomes of them. */
@Timeout(300)
class StripesTest {

    private static final String TWO_CABLES = """
            a: {nics: [{address: 127.1.12.1/24}, {address: 127.1.13.1/24}]}
            b: {nics: [{address: 127.1.12.2/24}, {address: 127.1.13.2/24}]}
            """;

    /** Nobody listens there. */
    private static final int DEAD_PORT = 1;

    private static final int SIZE = 1 << 20;
    private static final long REMOTE_ERROR = -NcclResult.REMOTE_ERROR.code();

    @TempDir
    @SuppressWarnings("NullAway.Init")
    private Path directory;

    private final List<TestNode> nodes = new ArrayList<>();

    private TestNode open(TestCluster cluster, String name) {
        TestNode node = new TestNode(cluster, name, RaisingVerbs::new);
        nodes.add(node);
        return node;
    }

    @AfterEach
    void nothingIsLeftOpen() {
        for (TestNode node : nodes) {
            node.close();
            LedgerAssert.assertNothingOpen(node.verbs());
        }
    }

    private static void sendOne(Connected ab, int size) {
        long from = ab.sender.allocate(size);
        long to = ab.receiver.allocate(size);
        Random random = new Random(size);
        for (long i = 0; i + 8 <= size; i += 8) {
            Memory.putLong(from + i, random.nextLong());
        }
        long fromHandle = ab.sender.register(ab.sendComm, from, size);
        long toHandle = ab.receiver.register(ab.receiveComm, to, size);
        long receive = retry(() -> ab.receiver.plugin.irecv(ab.receiveComm, to, size, 0, toHandle));
        long send = retry(() -> ab.sender.plugin.isend(ab.sendComm, from, size, 0, fromHandle));
        assertThat(finish(ab.sender, send)).isEqualTo(size);
        assertThat(finish(ab.receiver, receive)).isEqualTo(size);
        assertThat(Memory.segment(to, size).mismatch(Memory.segment(from, size)))
                .isEqualTo(-1);
    }

    /** What each link has carried, by the counters that are logged when the context is closed. */
    private static List<String> counters(TestNode node) {
        try (CapturedLog log = new CapturedLog()) {
            node.plugin.closeContext(node.context);
            return log.lines().stream()
                    .filter(line -> line.contains("sent and received so far"))
                    .toList();
        }
    }

    @Test
    void aLongMessageGoesOverBothLinksAsTheirSpeedsAreAndAShortOneOverTheFasterAlone() {
        TestCluster cluster = TestCluster.striped(
                directory, LinkKind.SOFTWARE, 1, TWO_CABLES.replace("13.1/24", "13.1/24, speedMbps: 30000"));
        TestNode a = open(cluster, "a");
        TestNode b = open(cluster, "b");
        Connected ab = new Connected(a, b);
        int least = MessageProtocol.MIN_DIVIDED_BYTES;

        // the file says 30 Gbit/s on one side only: the peer's 10 count
        sendOne(ab, least);
        sendOne(ab, least - 1);

        for (TestNode node : List.of(a, b)) {
            assertThat(counters(node))
                    .satisfiesExactly(
                            line -> assertThat(line).contains("127.1.12.", ": 1 messages, " + least / 2 + " bytes"),
                            line -> assertThat(line)
                                    .contains("127.1.13.", ": 2 messages, " + (least / 2 + least - 1) + " bytes"));
        }
    }

    @Test
    void statedSpeedsOfBothEndsAreTheProportion() {
        TestCluster cluster = TestCluster.striped(
                directory,
                LinkKind.SOFTWARE,
                1,
                TWO_CABLES
                        .replace("13.1/24", "13.1/24, speedMbps: 30000")
                        .replace("13.2/24", "13.2/24, speedMbps: 30000"));
        TestNode a = open(cluster, "a");
        TestNode b = open(cluster, "b");
        Connected ab = new Connected(a, b);

        sendOne(ab, SIZE);

        assertThat(counters(a))
                .satisfiesExactly(
                        line -> assertThat(line).contains("127.1.12.1", ": 1 messages, " + SIZE / 4 + " bytes"),
                        line -> assertThat(line).contains("127.1.13.1", ": 1 messages, " + SIZE / 4 * 3 + " bytes"));
    }

    @Test
    void onSoftwareLinksOneLinkIsTheDefault() {
        TestCluster cluster = TestCluster.software(directory, TWO_CABLES);
        TestNode a = open(cluster, "a");
        TestNode b = open(cluster, "b");

        sendOne(new Connected(a, b), SIZE);

        assertThat(queuePairs(a)).hasSize(1);
    }

    @Test
    void severalQueuePairsGoOverOneLinkWhereThatIsWished() {
        TestCluster cluster = TestCluster.striped(directory, LinkKind.SOFTWARE, 3, """
                a: {nics: [{address: 127.1.12.1/24}]}
                b: {nics: [{address: 127.1.12.2/24}]}
                """);
        TestNode a = open(cluster, "a");
        TestNode b = open(cluster, "b");

        sendOne(new Connected(a, b), SIZE + 77);

        assertThat(queuePairs(a)).hasSize(3);
        assertThat(counters(a)).singleElement().asString().contains("3 messages, " + (SIZE + 77) + " bytes");
    }

    @Test
    void linksOfOneSubnetArePaired() {
        TestCluster cluster = TestCluster.striped(directory, LinkKind.SOFTWARE, 1, """
                a: {nics: [{address: 127.1.12.1/24}, {address: 127.1.12.3/24}, {address: 127.1.12.5/24}]}
                b: {nics: [{address: 127.1.12.2/24}, {address: 127.1.12.4/24}]}
                """);
        TestNode a = open(cluster, "a");
        TestNode b = open(cluster, "b");
        Connected ab = new Connected(a, b);
        Connected ba = new Connected(b, a);

        sendOne(ab, SIZE);
        sendOne(ba, SIZE);

        assertThat(queuePairs(a)).hasSize(4);
        assertThat(queuePairs(b)).hasSize(4);
    }

    @Test
    void aPathThatFailsIsLeftOutIsSaidOnceAndRestsForTheNextConnections() {
        TestCluster cluster = TestCluster.striped(directory, LinkKind.SOFTWARE, 1, TWO_CABLES);
        TestNode a = open(cluster, "a");
        TestNode b = open(cluster, "b");
        try (CapturedLog log = new CapturedLog()) {
            for (int i = 0; i < 3; i++) {
                sendOne(connectWithout(a, b, "127.1.13.2"), SIZE);
            }
            assertThat(log.lines().stream().filter(line -> line.startsWith("WARN")))
                    .singleElement()
                    .asString()
                    .contains("no connection to b over", "127.1.13.2", "127.1.13.1/24");
        }
        assertThat(queuePairs(b)).hasSize(3);
    }

    @Test
    void whereAllPathsFailTheErrorTellsWhyEachDid() {
        TestCluster cluster = TestCluster.striped(directory, LinkKind.SOFTWARE, 1, TWO_CABLES);
        TestNode a = open(cluster, "a");
        TestNode b = open(cluster, "b");

        assertThatThrownBy(() -> connectWithout(a, b, "127.1.12.2", "127.1.13.2"))
                .isInstanceOf(NoConnectionException.class)
                .hasMessageContaining("all of its 2 paths failed")
                .hasMessageContaining("127.1.12.2:" + DEAD_PORT)
                .hasMessageContaining("127.1.13.2:" + DEAD_PORT);
    }

    /** A connection for whose sender nobody listens at these of the receiver's addresses. */
    private static Connected connectWithout(TestNode sender, TestNode receiver, String... addresses) {
        return new Connected(sender, receiver, handleAddress -> {
            ListenHandle handle = ListenHandle.readFrom(handleAddress);
            List<LinkAddress> links = handle.links().stream()
                    .map(link -> List.of(addresses).contains(link.address().getHostAddress())
                            ? new LinkAddress(link.address(), link.prefixLength(), DEAD_PORT, link.kinds())
                            : link)
                    .toList();
            new ListenHandle(
                            handle.connection(),
                            handle.secret(),
                            handle.nodeIndex(),
                            handle.configFingerprint(),
                            links,
                            handle.linksLeftOut())
                    .writeTo(handleAddress);
        });
    }

    @Test
    void aQueuePairThatFailsFailsTheConnectionAndIsNamedAtBothEnds() {
        TestCluster cluster =
                TestCluster.striped(directory, LinkKind.SOFTWARE, 1, TWO_CABLES).withoutFailover();
        TestNode a = open(cluster, "a");
        TestNode b = open(cluster, "b");
        Connected ab = new Connected(a, b);
        sendOne(ab, SIZE);
        long from = a.allocate(SIZE);
        long to = b.allocate(SIZE);
        long fromHandle = a.register(ab.sendComm, from, SIZE);
        long toHandle = b.register(ab.receiveComm, to, SIZE);
        try (CapturedLog log = new CapturedLog()) {
            queuePairs(a)
                    .get(1)
                    .modify(QueuePairAttributes.to(QueuePairStateCode.ERROR).build());

            long receive = retry(() -> b.plugin.irecv(ab.receiveComm, to, SIZE, 0, toHandle));
            assertThat(ab.sendUntilItFails(from, SIZE, 0, fromHandle)).isNegative();
            assertThat(finish(b, receive)).isEqualTo(REMOTE_ERROR);
            assertThat(b.plugin.irecv(ab.receiveComm, to, SIZE, 0, toHandle)).isEqualTo(REMOTE_ERROR);

            log.await("WARN sender on lo 127.1.13.1/24", "return");
            log.await("WARN receiver on ", "the peer's end failed");
        }
    }

    @Test
    void memoryOfAnotherConnectionIsRefused() {
        TestCluster cluster = TestCluster.striped(directory, LinkKind.SOFTWARE, 1, TWO_CABLES);
        TestNode a = open(cluster, "a");
        TestNode b = open(cluster, "b");
        Connected first = new Connected(a, b);
        Connected second = new Connected(a, b);
        long from = a.allocate(64);
        long to = b.allocate(64);
        long fromHandle = a.register(first.sendComm, from, 64);
        long toHandle = b.register(first.receiveComm, to, 64);

        assertThat(b.plugin.irecv(second.receiveComm, to, 64, 0, toHandle))
                .isEqualTo(-NcclResult.INVALID_ARGUMENT.code());
        assertThat(a.plugin.isend(second.sendComm, from, 64, 0, fromHandle))
                .isEqualTo(-NcclResult.INVALID_ARGUMENT.code());
    }

    private static List<QueuePair> queuePairs(TestNode node) {
        return List.copyOf(((RaisingVerbs) node.verbs()).queuePairs);
    }
}
