package trigon.transport.failover;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import trigon.routing.LocalLink;
import trigon.transport.testsupport.RaisingVerbs;
import trigon.transport.testsupport.TestNode;

/** Of one queue pair over an RDMA link, where there are two. */
class RdmaQueuePairCutTest extends QueuePairCutContract {

    /** Whether connections go over all links. */
    String stripes() {
        return "one";
    }

    @Override
    TestNode open(Path directory, String name) {
        int host = name.equals("a") ? 1 : 2;
        List<LocalLink> links = List.of(
                TestNode.rdmaLink("127.1.14.%d/24".formatted(host)),
                TestNode.rdmaLink("127.1.15.%d/24".formatted(host)));
        return new TestNode(
                name,
                links,
                Map.of("TRIGON_FAILOVER", "on", "TRIGON_STRIPES", stripes()),
                TestNode.RDMA_MBPS,
                TestNode.PAGE_BYTES,
                RaisingVerbs::new);
    }
}
