package trigon.transport.connect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import trigon.nccl.NoConnectionException;
import trigon.routing.LocalLink;
import trigon.testsupport.LedgerAssert;
import trigon.transport.testsupport.CapturedLog;
import trigon.transport.testsupport.Connected;
import trigon.transport.testsupport.RaisingVerbs;
import trigon.transport.testsupport.TestNode;

/** TCP gets through over an RDMA link, and nothing that is sent over RDMA: no connection goes there. */
@Timeout(300)
class ProvenPathsTest {

    private static final String NOT_ACKNOWLEDGED = "is not acknowledged, though TCP gets through";

    private final List<TestNode> nodes = new ArrayList<>();

    private TestNode open(String name, String stripes) {
        int host = name.equals("a") ? 1 : 2;
        List<LocalLink> links = List.of(
                TestNode.rdmaLink("127.1.22.%d/24".formatted(host)),
                TestNode.rdmaLink("127.1.23.%d/24".formatted(host)));
        TestNode node = new TestNode(
                name,
                links,
                Map.of("TRIGON_STRIPES", stripes),
                TestNode.RDMA_MBPS,
                TestNode.PAGE_BYTES,
                RaisingVerbs::new);
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

    private static void silence(TestNode node, LocalLink link) {
        ((RaisingVerbs) node.verbs()).unacknowledged = link.deviceName();
    }

    @ParameterizedTest
    @ValueSource(strings = {"one", "all"})
    void aConnectionIsMadeElsewhere(String stripes) {
        TestNode a = open("a", stripes);
        TestNode b = open("b", stripes);
        silence(a, a.links.getFirst());

        try (CapturedLog log = new CapturedLog(Level.INFO)) {
            Connected ab = new Connected(a, b);
            ab.sendOne(4096);

            assertThat(log.lines())
                    .anySatisfy(line -> assertThat(line).contains("sends to ", "via " + a.links.getLast()))
                    .noneSatisfy(line -> assertThat(line).contains("via " + a.links.getFirst()));
        }
    }

    /** One that waited for its own acknowledgement before the next is asked would wait in vain. */
    @Test
    void theQueuePairsOfAConnectionAreAskedTogether() {
        TestNode a = open("a", "all");
        TestNode b = open("b", "all");
        ((RaisingVerbs) a.verbs()).unansweredBefore = 2;

        try (CapturedLog log = new CapturedLog(Level.INFO)) {
            Connected ab = new Connected(a, b);
            ab.sendOne(1 << 20);

            assertThat(log.lines())
                    .anySatisfy(line -> assertThat(line)
                            .contains(
                                    "sends to ",
                                    "via " + a.links.getFirst(),
                                    a.links.getLast().toString()));
        }
    }

    /** A switch may have another MTU for RoCE, of which TCP says nothing. */
    @Test
    void whereLongPacketsAreLostTheyAreShort() {
        TestNode a = open("a", "all");
        TestNode b = open("b", "all");
        ((RaisingVerbs) a.verbs()).losesLong = true;

        try (CapturedLog log = new CapturedLog(Level.INFO)) {
            new Connected(a, b).sendOne(1 << 20);

            assertThat(log.lines())
                    .anySatisfy(line -> assertThat(line)
                            .contains("WARN RDMA packets of 4096 bytes are lost from 127.1.22.1 to 127.1.22.2")
                            .contains("packets of 1024 bytes pass", "set one MTU"))
                    .anySatisfy(line -> assertThat(line).contains("sends to ", "via " + a.links.getFirst()));
        }
    }

    @Test
    void whereNothingElseLeadsThereTheErrorSaysWhatToLookAt() {
        TestNode a = open("a", "one");
        TestNode b = open("b", "one");
        ((RaisingVerbs) a.verbs()).silent = true;

        assertThatThrownBy(() -> new Connected(a, b))
                .isInstanceOf(NoConnectionException.class)
                .hasMessageContaining(NOT_ACKNOWLEDGED)
                .hasMessageContaining("UDP port 4791");
    }
}
