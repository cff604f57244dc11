package trigon.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import trigon.routing.LocalLink;
import trigon.system.InterfaceAddress;
import trigon.testsupport.DgxSpark;
import trigon.transport.protocol.MessageProtocol;
import trigon.transport.testsupport.CapturedLog;
import trigon.transport.testsupport.Connected;
import trigon.transport.testsupport.TestNode;

/**
 * On a DGX Spark a connection goes over both functions of a cable without a setting. The devices are software devices
 * with the functions' names, on loopback addresses; messages go as over RDMA links.
 */
@Timeout(300)
class DgxSparkTest {

    private static final int PORT_MBPS = 200_000;
    private static final int PCI_LINK_MBPS = 113_605;

    @Test
    void aConnectionGoesOverBothTwinsByDefault() {
        List<String> twins = DgxSpark.DEVICES.subList(0, 2);
        try (TestNode a = node("a", links(1, PCI_LINK_MBPS, twins));
                TestNode b = node("b", links(2, PCI_LINK_MBPS, twins))) {
            Connected ab = new Connected(a, b);
            int size = MessageProtocol.MIN_DIVIDED_BYTES;
            ab.sendOne(size);

            try (CapturedLog log = new CapturedLog()) {
                a.plugin.closeContext(a.context);
                assertThat(log.lines())
                        .filteredOn(line -> line.contains("sent and received so far"))
                        .hasSize(2)
                        .allSatisfy(line -> assertThat(line).contains(": 1 messages, " + size / 2 + " bytes"));
            }
        }
    }

    private static TestNode node(String name, List<LocalLink> links) {
        return new TestNode(name, links, Map.of(), PORT_MBPS, TestNode.PAGE_BYTES);
    }

    /** One for each device, in a subnet of its own. */
    private static List<LocalLink> links(int host, int mbps, List<String> devices) {
        return devices.stream()
                .map(device -> link(device, host, mbps, devices.indexOf(device)))
                .toList();
    }

    private static LocalLink link(String device, int host, int mbps, int number) {
        InterfaceAddress address = InterfaceAddress.parse("127.7.%d.%d/24".formatted(number, host));
        String interfaceName = device.replaceFirst("roce", "en") + (device.endsWith("f0") ? "np0" : "np1");
        return TestNode.rdmaLink(device, address, mbps, interfaceName, 2 + number, number);
    }
}
