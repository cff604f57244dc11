package trigon.routing.discovery;

import static org.assertj.core.api.Assertions.assertThat;
import static trigon.routing.Links.gid;
import static trigon.routing.Links.interfaces;
import static trigon.routing.Links.port;
import static trigon.routing.Links.up;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import trigon.config.setting.LinkPolicy;
import trigon.routing.DiscoveredLinks;
import trigon.routing.LeftOut;
import trigon.routing.Links;
import trigon.routing.PeerLink;
import trigon.routing.table.RoutingTable;
import trigon.verbs.GidEntry;
import trigon.verbs.LinkKind;
import trigon.verbs.LinkLayer;
import trigon.verbs.PortState;

/** Machines that people have posted, with their numbers in {@code integration-tests/field-cases.md}. */
class FieldCasesTest {

    /** Case 14: in the pod the first four entries are empty. */
    @Test
    void aGidTableWithHolesAtItsBeginningIsRead() {
        RdmaPort sparse = new RdmaPort(
                "mlx5_0",
                1,
                port(PortState.ACTIVE, LinkLayer.ETHERNET),
                List.of(
                        gid(4, "fe80::a4ed:ccff:fe8b:1994", GidEntry.Type.ROCE_V1, 7),
                        gid(5, "fe80::a4ed:ccff:fe8b:1994", GidEntry.Type.ROCE_V2, 7),
                        gid(6, "10.152.0.12", GidEntry.Type.ROCE_V1, 7),
                        gid(7, "10.152.0.12", GidEntry.Type.ROCE_V2, 7)));

        assertThat(discover(interfaces(up("net1", 7, "10.152.0.12/24")), sparse).links())
                .filteredOn(link -> link.kind() == LinkKind.RDMA)
                .singleElement()
                .satisfies(link -> {
                    assertThat(link.gidIndex()).isEqualTo(7);
                    assertThat(link.interfaceName()).isEqualTo("net1");
                });
    }

    /** Case 16: the pod has the device, and its interface is elsewhere. */
    @Test
    void aDeviceWhoseInterfaceIsElsewhereIsLeftOutAndTcpIsUsed() {
        RdmaPort foreign = new RdmaPort(
                "mlx5_0",
                1,
                port(PortState.ACTIVE, LinkLayer.ETHERNET),
                List.of(
                        gid(0, "fe80::a4ed:ccff:fe8b:1994", GidEntry.Type.ROCE_V1, 9),
                        gid(1, "fe80::a4ed:ccff:fe8b:1994", GidEntry.Type.ROCE_V2, 9)));

        DiscoveredLinks found = discover(interfaces(up("eth0", 2, "10.244.1.7/24")), foreign);

        assertThat(found.links()).singleElement().hasToString("eth0 10.244.1.7/24 (TCP)");
        assertThat(found.leftOut()).extracting(LeftOut::toString).anyMatch(text -> text.startsWith("mlx5_0: "));
    }

    /** Case 19: of Wi-Fi the kernel tells no speed. */
    @Test
    void aCableOf2500MegabitsGoesBeforeWiFi() {
        DiscoveredLinks here =
                discover(interfaces(up("wlp1s0", 3, 0, "192.168.86.21/24"), up("enp2s0", 4, 2_500, "10.0.0.1/24")));
        DiscoveredLinks there =
                discover(interfaces(up("wlp1s0", 3, 0, "192.168.86.22/24"), up("enp2s0", 4, 2_500, "10.0.0.2/24")));
        RoutingTable table = new RoutingTable(here.links(), Links.NO_ROUTES, Map.of(), List.of());

        assertThat(table.pathsTo(Links.peer(Links.advertised(there).toArray(PeerLink[]::new))))
                .extracting(path -> path.local().interfaceName())
                .containsExactly("enp2s0", "wlp1s0");
    }

    private static DiscoveredLinks discover(HostInterfaces host, RdmaPort... ports) {
        return LinkDiscovery.discover(Links.config(LinkPolicy.AUTO), List.of(ports), host);
    }
}
