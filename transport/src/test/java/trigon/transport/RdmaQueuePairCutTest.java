package trigon.transport;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import trigon.config.InterfaceAddress;
import trigon.routing.LocalLink;
import trigon.routing.hardware.NicHardware;
import trigon.verbs.Gid;
import trigon.verbs.LinkKind;

/** Of one queue pair over an RDMA link, where there are two. */
class RdmaQueuePairCutTest extends QueuePairCutContract {

    private static final int MBPS = 100_000;

    /** Whether connections go over all links. */
    String stripes() {
        return "one";
    }

    @Override
    TestNode open(Path directory, String name) {
        int host = name.equals("a") ? 1 : 2;
        List<LocalLink> links = List.of(link(14, host), link(15, host));
        return new TestNode(
                name,
                links,
                Map.of("TRIGON_FAILOVER", "on", "TRIGON_STRIPES", stripes()),
                MBPS,
                TestNode.PAGE_BYTES,
                NicHardware.ofThisMachine(),
                RaisingVerbs::new);
    }

    private static LocalLink link(int net, int host) {
        InterfaceAddress address = InterfaceAddress.parse("127.1.%d.%d/24".formatted(net, host));
        String device = "roce" + net;
        return new LocalLink(
                device, LinkKind.RDMA, device, 1, address, 0, Gid.of(address.address()), MBPS, "en" + net, net, net);
    }
}
