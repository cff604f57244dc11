package trigon.transport.failover;

import ch.qos.logback.classic.Level;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import trigon.routing.LocalLink;
import trigon.testsupport.LedgerAssert;
import trigon.transport.testsupport.CapturedLog;
import trigon.transport.testsupport.Connected;
import trigon.transport.testsupport.RaisingVerbs;
import trigon.transport.testsupport.TestNode;
import trigon.verbs.AsyncEvent;
import trigon.verbs.AsyncEventType;

/** What only the receiver can know of a path: it tells the sender, to which nothing is wrong with it. */
@Timeout(120)
class UnheardSenderTest {

    private final TestNode a = open("a", 1);
    private final TestNode b = open("b", 2);

    private static TestNode open(String name, int host) {
        List<LocalLink> links = List.of(
                TestNode.rdmaLink("127.1.24.%d/24".formatted(host)),
                TestNode.rdmaLink("127.1.25.%d/24".formatted(host)));
        return new TestNode(
                name,
                links,
                Map.of("TRIGON_STRIPES", "one"),
                TestNode.RDMA_MBPS,
                TestNode.PAGE_BYTES,
                RaisingVerbs::new);
    }

    @AfterEach
    void nothingIsLeftOpen() {
        for (TestNode node : List.of(a, b)) {
            node.close();
            LedgerAssert.assertNothingOpen(node.verbs());
        }
    }

    @Test
    void aPortThatIsDownAtTheReceiverIsLeft() {
        try (CapturedLog log = new CapturedLog(Level.INFO)) {
            Connected ab = new Connected(a, b);
            ab.sendOne(4096);
            int used = log.lines().stream()
                            .anyMatch(line -> line.contains("sends to ") && line.contains("via " + a.links.getFirst()))
                    ? 0
                    : 1;

            ((RaisingVerbs) b.verbs())
                    .raise(b.links.get(used).deviceName(), new AsyncEvent.OfPort(AsyncEventType.PORT_ERROR, 1));

            log.await(
                    "INFO",
                    "the connection to",
                    "goes on over " + a.links.get(1 - used),
                    "the peer's end failed: the link is down");
            ab.sendOne(4096);
        }
    }
}
