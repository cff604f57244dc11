package trigon.routing.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static trigon.routing.Links.address;
import static trigon.routing.Links.node;
import static trigon.routing.Links.peer;
import static trigon.routing.Links.rdma;
import static trigon.routing.Links.remote;
import static trigon.routing.Links.software;
import static trigon.routing.Links.table;
import static trigon.verbs.LinkKind.RDMA;
import static trigon.verbs.LinkKind.SOFTWARE;

import java.net.InetAddress;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import org.junit.jupiter.api.Test;
import trigon.config.PluginConfig;
import trigon.config.cluster.NicReference;
import trigon.config.file.ConfigLoader;
import trigon.routing.Bandwidth;
import trigon.routing.DiscoveredLinks;
import trigon.routing.DiscoveredLinks.NicOverride;
import trigon.routing.LinkUse;
import trigon.routing.Links;
import trigon.routing.LocalLink;
import trigon.routing.Path;
import trigon.routing.PeerDescription;
import trigon.routing.PeerLink;
import trigon.routing.RouteLookup;

class RoutingTableTest {

    private static final LocalLink TO_B = rdma("rxe_ab", "10.0.12.1/24", 0);
    private static final LocalLink TO_C = rdma("rxe_ac", "10.0.13.1/24", 1);

    /** All that is in no subnet goes from 10.0.13.1 to a gateway. */
    private static final RouteLookup BY_GATEWAY = new RouteLookup() {
        @Override
        public Optional<InetAddress> sourceFor(InetAddress destination) {
            return Optional.of(address("10.0.13.1"));
        }

        @Override
        public boolean hasGateway(InetAddress source, InetAddress destination) {
            return !destination.equals(address("10.0.13.2"));
        }
    };

    @Test
    void choosesTheLinkInThePeersSubnet() {
        assertThat(table(TO_B, TO_C).pathsTo(peer(remote("10.0.23.3/24", RDMA), remote("10.0.13.3/24", RDMA))))
                .map(Path::toString)
                .containsExactly("peer 10.0.13.3 via rxe_ac 10.0.13.1/24 (RDMA), same subnet /24");
    }

    @Test
    void prefersTheLongerPrefix() {
        RoutingTable table = table(rdma("wide", "10.0.0.1/8", 0), rdma("narrow", "10.0.12.1/24", 1));

        assertThat(table.pathsTo(peer(remote("10.0.12.2/24", RDMA), remote("10.1.0.2/8", RDMA))))
                .map(Path::toString)
                .containsExactly(
                        "peer 10.0.12.2 via narrow 10.0.12.1/24 (RDMA), same subnet /24",
                        "peer 10.1.0.2 via wide 10.0.0.1/8 (RDMA), same subnet /8");
    }

    @Test
    void prefersRdmaAmongEqualPrefixesOnly() {
        RoutingTable table = table(
                software("narrow", "10.0.12.1/24", 2),
                software("wide", "10.7.0.1/16", 0),
                rdma("rxe_wide", "10.7.0.1/16", 0));

        assertThat(table.pathsTo(peer(remote("10.0.12.2/24", SOFTWARE), remote("10.7.0.2/16", RDMA, SOFTWARE))))
                .map(path -> path.local().name())
                .containsExactly("narrow", "rxe_wide", "wide");
    }

    @Test
    void fallsBackToTheKindThatBothEndsHave() {
        RoutingTable table = table(rdma("rxe", "10.0.12.1/24", 0), software("soft", "10.0.12.1/24", 0));

        assertThat(table.pathsTo(peer(remote("10.0.12.2/24", SOFTWARE))))
                .singleElement()
                .satisfies(path -> assertThat(path.kind()).isEqualTo(SOFTWARE));
    }

    @Test
    void offersTwoNicsOnOneSubnetInTurn() {
        RoutingTable table = table(rdma("second", "10.0.12.9/24", 0), rdma("first", "10.0.12.1/24", 1));

        assertThat(table.pathsTo(peer(remote("10.0.12.3/24", RDMA), remote("10.0.12.2/24", RDMA))))
                .map(path -> path.local().name() + " " + path.remote().address().getHostAddress())
                .containsExactly("first 10.0.12.2", "first 10.0.12.3", "second 10.0.12.2", "second 10.0.12.3");
    }

    @Test
    void putsThePreferredLinkBeforeThoseThatLeadThereAsDirectly() {
        LocalLink first = software("first", "10.0.12.1/24", 0);
        LocalLink second = software("second", "10.1.12.1/24", 1);
        LocalLink wide = software("wide", "10.2.0.1/16", 2);
        PeerDescription peer = peer(
                remote("10.0.12.2/24", SOFTWARE), remote("10.1.12.2/24", SOFTWARE), remote("10.2.0.2/16", SOFTWARE));

        assertThat(names(table(first, second, wide).pathsTo(peer, Set.of(second))))
                .containsExactly("second", "first", "wide");
        assertThat(names(table(first, second, wide).pathsTo(peer, Set.of(wide))))
                .containsExactly("first", "second", "wide");
        assertThat(names(table(first, second).pathsTo(peer(remote("10.0.12.2/24", SOFTWARE)), Set.of(second))))
                .containsExactly("first");
    }

    private static List<String> names(List<Path> paths) {
        return paths.stream().map(path -> path.local().name()).toList();
    }

    @Test
    void servesPointToPointSubnets() {
        RoutingTable table = table(rdma("x", "10.0.0.0/31", 0), rdma("y", "10.0.0.2/31", 1));

        assertThat(table.pathsTo(peer(remote("10.0.0.3/31", RDMA))))
                .singleElement()
                .satisfies(path -> assertThat(path.local().name()).isEqualTo("y"));
    }

    @Test
    void takesUnequalPrefixesIfEachEndIsInTheOthersSubnet() {
        RoutingTable table = table(rdma("x", "10.0.12.1/16", 0));

        assertThat(table.pathsTo(peer(remote("10.0.12.2/24", RDMA))))
                .singleElement()
                .hasToString("peer 10.0.12.2 via x 10.0.12.1/16 (RDMA), same subnet /16");
        assertThatExceptionOfType(NoPathException.class)
                .isThrownBy(() -> table.pathsTo(peer(remote("10.0.99.2/24", RDMA))))
                .withMessageContaining("10.0.99.2 is in its subnet, but it is not in the peer's 10.0.99.2/24");
        assertThatExceptionOfType(NoPathException.class)
                .isThrownBy(() -> table(rdma("x", "10.0.12.1/24", 0)).pathsTo(peer(remote("10.0.99.2/16", RDMA))))
                .withMessageContaining("it is in the peer's 10.0.99.2/16, but that is not in its own subnet /24");
    }

    @Test
    void servesIpv6AndKeepsFamiliesApart() {
        RoutingTable table = table(rdma("six", "fd00:12::1/64", 0), rdma("four", "10.0.12.1/0", 1));

        assertThat(table.pathsTo(peer(remote("fd00:12::2/64", RDMA))))
                .singleElement()
                .hasToString("peer fd00:12::2 via six fd00:12::1/64 (RDMA), same subnet /64");
    }

    @Test
    void reachesAProcessOnTheSameMachine() {
        assertThat(table(TO_B, TO_C).pathsTo(peer(remote("10.0.12.1/24", RDMA))))
                .singleElement()
                .satisfies(path -> assertThat(path.local()).isEqualTo(TO_B));
    }

    /** Containers of two nodes, each in the default network of its node: the address leads to the own listener. */
    @Test
    void anAddressThatAPeerOnAnotherNodeHasAsWellIsNoPath() {
        RoutingTable table = new RoutingTable(
                List.of(software("eth0", "172.17.0.2/16", 0), software("eth1", "10.0.13.1/24", 1)),
                Optional::of,
                Map.of(),
                List.of());
        PeerLink same = remote("172.17.0.2/16", SOFTWARE);

        assertThatExceptionOfType(NoPathException.class)
                .isThrownBy(() -> table.pathsTo(new PeerDescription(OptionalInt.empty(), List.of(same), false)))
                .withMessageContaining("The peer is on another node and has the same address, 172.17.0.2")
                .withMessageContaining("--network=host");
        assertThat(table.pathsTo(new PeerDescription(
                        OptionalInt.empty(), List.of(same, remote("10.0.13.2/24", SOFTWARE)), false)))
                .singleElement()
                .satisfies(path -> assertThat(path.local().name()).isEqualTo("eth1"));
        assertThat(table.pathsTo(peer(same))).as("another process of this node").hasSize(1);
    }

    @Test
    void followsTheKernelsRoutesAfterAllSubnets() {
        RouteLookup kernel = destination ->
                Optional.of(address(destination.equals(address("10.9.9.9")) ? "10.0.13.1" : "10.0.12.1"));
        RoutingTable table =
                new RoutingTable(List.of(TO_B, TO_C, software("soft", "10.0.13.1/24", 1)), kernel, Map.of(), List.of());

        assertThat(table.pathsTo(peer(remote("10.9.9.9/24", RDMA, SOFTWARE), remote("10.0.12.2/24", RDMA))))
                .map(Path::toString)
                .containsExactly(
                        "peer 10.0.12.2 via rxe_ab 10.0.12.1/24 (RDMA), same subnet /24",
                        "peer 10.9.9.9 via rxe_ac 10.0.13.1/24 (RDMA), kernel route",
                        "peer 10.9.9.9 via if_soft 10.0.13.1/24 (TCP), kernel route");
    }

    @Test
    void aGatewayCarriesTcpAlone() {
        RoutingTable table = new RoutingTable(
                List.of(TO_B, TO_C, software("soft", "10.0.13.1/24", 1)), BY_GATEWAY, Map.of(), List.of());

        assertThat(table.pathsTo(peer(remote("10.9.9.9/24", RDMA, SOFTWARE))))
                .singleElement()
                .hasToString("peer 10.9.9.9 via if_soft 10.0.13.1/24 (TCP), kernel route");
        assertThat(table.isWithheldFromRdma(TO_C, remote("10.9.9.9/24", RDMA))).isTrue();
        assertThat(table.isWithheldFromRdma(TO_B, remote("10.9.9.9/24", RDMA)))
                .as("the kernel would not send from there")
                .isFalse();
        assertThat(table.isWithheldFromRdma(TO_C, remote("10.0.13.2/24", RDMA))).isFalse();
    }

    @Test
    void saysThatAGatewayIsAskedFor() {
        RoutingTable table = new RoutingTable(List.of(TO_B, TO_C), BY_GATEWAY, Map.of(), List.of());

        assertThatExceptionOfType(NoPathException.class)
                .isThrownBy(() -> table.pathsTo(peer(remote("10.9.9.9/24", RDMA))))
                .withMessageContaining("the route to 10.9.9.9 has a gateway; if switches route, set routes.rdma: on");
    }

    @Test
    void aGatewayCarriesRdmaWhereTheSettingsSaySo() {
        for (String said : List.of("off", "on")) {
            PluginConfig config = ConfigLoader.load(Map.of("TRIGON_ROUTES_RDMA", said), "a");
            RoutingTable table =
                    RoutingTable.of(config, new DiscoveredLinks(List.of(TO_C), Map.of(), List.of()), BY_GATEWAY);

            assertThat(table.isWithheldFromRdma(TO_C, remote("10.9.9.9/24", RDMA)))
                    .isEqualTo(said.equals("off"));
        }
    }

    @Test
    void usesOnlyThePrescribedNic() {
        RoutingTable table = prescribing("10.0.13.1", _ -> Optional.empty());

        assertThat(table.pathsTo(node(1, remote("10.0.12.2/24", RDMA), remote("10.0.13.2/24", RDMA))))
                .singleElement()
                .hasToString("b 10.0.13.2 via rxe_ac 10.0.13.1/24 (RDMA), prescribed by /etc/trigon.yaml:9, same subnet"
                        + " /24");
        assertThat(table.pathsTo(node(2, remote("10.0.12.2/24", RDMA))))
                .singleElement()
                .satisfies(path -> assertThat(path.local()).isEqualTo(TO_B));
    }

    @Test
    void failsIfThePrescribedNicCannotReachThePeer() {
        RoutingTable table = prescribing("10.0.13.1", _ -> Optional.of(address("10.0.12.1")));

        assertThatExceptionOfType(NoPathException.class)
                .isThrownBy(() -> table.pathsTo(node(1, remote("10.0.12.2/24", RDMA))))
                .withMessageContainingAll(
                        "no path to b, which is at 10.0.12.2/24 (RDMA).",
                        "10.0.12.1: not the NIC that /etc/trigon.yaml:9 prescribes, which is 10.0.13.1.",
                        "10.0.13.1: 10.0.12.2 is not in its subnet /24.",
                        "The kernel would send to 10.0.12.2 from 10.0.12.1, which is not allowed",
                        "change the entry of peers");
    }

    @Test
    void routesThroughThePrescribedNic() {
        RoutingTable table = prescribing("10.0.13.1", _ -> Optional.of(address("10.0.13.1")));

        assertThat(table.pathsTo(node(1, remote("10.0.99.2/24", RDMA))))
                .singleElement()
                .hasToString(
                        "b 10.0.99.2 via rxe_ac 10.0.13.1/24 (RDMA), prescribed by /etc/trigon.yaml:9, kernel route");
    }

    @Test
    void explainsWhyThereIsNoPath() {
        RoutingTable table = new RoutingTable(
                List.of(TO_B, TO_C),
                destination -> destination.equals(address("10.0.23.2"))
                        ? Optional.of(address("192.168.1.5"))
                        : Optional.empty(),
                Map.of(),
                List.of("a", "b"));

        assertThatExceptionOfType(NoPathException.class)
                .isThrownBy(() -> table.pathsTo(
                        node(1, remote("10.0.12.2/24", SOFTWARE), remote("10.0.23.2/24", RDMA, SOFTWARE))))
                .withMessage("no path to b, which is at 10.0.12.2/24 (TCP), 10.0.23.2/24 (RDMA, TCP)."
                        + " This node has rxe_ab 10.0.12.1/24 (RDMA), rxe_ac 10.0.13.1/24 (RDMA)."
                        + " 10.0.12.1: 10.0.12.2 is in its subnet, but there it is TCP and here RDMA, 10.0.23.2 is"
                        + " not in its subnet /24."
                        + " 10.0.13.1: 10.0.12.2 is not in its subnet /24, 10.0.23.2 is not in its subnet /24."
                        + " The kernel has no route to 10.0.12.2."
                        + " The kernel would send to 10.0.23.2 from 192.168.1.5, which is none of these links."
                        + " Give both nodes a link with addresses in one subnet (same prefix) and of one kind, allow"
                        + " both kinds with links auto, or add a route.");
    }

    @Test
    void explainsWhenOneEndHasNoLinks() {
        assertThatExceptionOfType(NoPathException.class)
                .isThrownBy(() -> table().pathsTo(node(7, remote("10.0.12.2/24", RDMA))))
                .withMessageContainingAll("no path to node 7", "This node has no link.");
        assertThatExceptionOfType(NoPathException.class)
                .isThrownBy(() -> table(TO_B).pathsTo(peer()))
                .withMessageContainingAll("which is at no address", "there is nothing to reach");
    }

    private static RoutingTable prescribing(String address, RouteLookup kernel) {
        InetAddress nic = address(address);
        NicOverride override = new NicOverride(new NicReference.ByAddress(nic, Links.LINE), Set.of(nic));
        return new RoutingTable(List.of(TO_B, TO_C), kernel, Map.of(1, override), List.of("a", "b", "c"));
    }

    @Test
    void whatCarriesMoreGoesBeforeWhatIsMoreDirect() {
        RoutingTable table = new RoutingTable(
                List.of(software("mgmt", "192.168.1.1/24", 0, 1_000), software("cable", "10.0.13.1/24", 1, 10_000)),
                _ -> Optional.of(address("10.0.13.1")),
                Map.of(),
                List.of());

        assertThat(names(table.pathsTo(peer(remote("192.168.1.2/24", SOFTWARE), remote("10.0.23.2/24", SOFTWARE)))))
                .containsExactly("cable", "cable", "mgmt");
    }

    @Test
    void theSlowerEndCounts() {
        RoutingTable table =
                table(software("switch", "192.168.1.1/24", 0, 10_000), software("cable", "10.0.12.1/24", 1, 2_500));

        assertThat(names(table.pathsTo(
                        peer(told("192.168.1.2/24", Bandwidth.of(1_000)), told("10.0.12.2/24", Bandwidth.of(2_500))))))
                .containsExactly("cable", "switch");
    }

    @Test
    void anUnknownSpeedComesAfterAllKnownOnesAndWiFiLast() {
        RoutingTable table = table(
                used("wlan", "192.168.86.1/24", 2_400, LinkUse.LAST_RESORT),
                software("unknown", "10.0.1.1/24", 1, 0),
                used("bootstrap", "192.168.1.1/24", 10_000, LinkUse.BOOTSTRAP),
                software("cable", "10.0.12.1/24", 3, 2_500));
        PeerDescription peer = peer(
                remote("192.168.86.2/24", SOFTWARE),
                remote("10.0.1.2/24", SOFTWARE),
                remote("192.168.1.2/24", SOFTWARE),
                remote("10.0.12.2/24", SOFTWARE));

        assertThat(names(table.pathsTo(peer))).containsExactly("cable", "bootstrap", "unknown", "wlan");
    }

    /** Interfaces are in another order there, and both ends take the same cable first. */
    @Test
    void tiesAreTheSameAtBothEnds() {
        RoutingTable here = table(software("x", "10.0.1.1/24", 0), software("y", "10.0.2.2/24", 1));
        RoutingTable there = table(software("y", "10.0.2.1/24", 0), software("x", "10.0.1.2/24", 1));

        assertThat(names(here.pathsTo(peer(remote("10.0.1.2/24", SOFTWARE), remote("10.0.2.1/24", SOFTWARE)))))
                .isEqualTo(
                        names(there.pathsTo(peer(remote("10.0.1.1/24", SOFTWARE), remote("10.0.2.2/24", SOFTWARE)))));
    }

    @Test
    void aRelayMayCarryMoreThanASlowNetwork() {
        LocalLink cable = software("cable", "10.0.13.1/24", 0, 10_000);
        PeerDescription peer = peer(remote("192.168.1.2/24", SOFTWARE));

        RoutingTable slow = table(cable, software("mgmt", "192.168.1.1/24", 1, 1_000));
        assertThat(slow.mayBeFasterByRelays(slow.pathsTo(peer).getFirst())).isTrue();
        RoutingTable equal = table(cable, software("mgmt", "192.168.1.1/24", 1, 10_000));
        assertThat(equal.mayBeFasterByRelays(equal.pathsTo(peer).getFirst())).isFalse();
    }

    private static PeerLink told(String address, Bandwidth bandwidth) {
        PeerLink link = remote(address, SOFTWARE);
        return new PeerLink(link.address(), link.prefixLength(), link.tcpPort(), link.kinds(), bandwidth);
    }

    private static LocalLink used(String name, String address, int speedMbps, LinkUse use) {
        LocalLink link = software(name, address, 0, speedMbps);
        return new LocalLink(
                link.name(),
                link.kind(),
                link.deviceName(),
                link.port(),
                link.address(),
                link.gidIndex(),
                link.gid(),
                link.speedMbps(),
                link.interfaceName(),
                link.interfaceIndex(),
                link.rank(),
                use);
    }
}
