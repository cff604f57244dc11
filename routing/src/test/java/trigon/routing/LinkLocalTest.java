package trigon.routing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static trigon.routing.Links.down;
import static trigon.routing.Links.interfaces;
import static trigon.routing.Links.peer;
import static trigon.routing.Links.remote;
import static trigon.routing.Links.software;
import static trigon.routing.Links.table;
import static trigon.routing.Links.up;
import static trigon.verbs.LinkKind.RDMA;
import static trigon.verbs.LinkKind.SOFTWARE;

import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import trigon.config.setting.LinkPolicy;
import trigon.routing.discovery.HostInterface;
import trigon.routing.discovery.HostInterfaces;
import trigon.routing.discovery.InnerInterfaces;
import trigon.routing.discovery.LinkDiscovery;
import trigon.routing.table.DisjointPaths;
import trigon.routing.table.NoPathException;
import trigon.routing.table.RoutingTable;

/** Interfaces that have nothing but their link-local IPv6 address. */
class LinkLocalTest {

    private static final String HERE_ONE = "fe80::a1/64";
    private static final String HERE_TWO = "fe80::a2/64";

    @Test
    void theyAreLinksBehindAllOthers() {
        DiscoveredLinks found = discover(
                up("lo", 1, "127.0.0.1/8"),
                up("fast", 2, 400_000, HERE_ONE),
                up("slow", 3, 1000, "10.0.12.1/24", "fe80::3/64"),
                down("off", 4, "10.0.13.1/24"));

        assertThat(found.links())
                .map(LocalLink::toString)
                .containsExactly(
                        "slow 10.0.12.1/24 (TCP)",
                        "slow fe80::3/64 (TCP)",
                        "off 10.0.13.1/24 (TCP)",
                        "fast fe80::a1/64 (TCP)");
        assertThat(found.leftOut())
                .map(LeftOut::toString)
                .anyMatch(text -> text.startsWith("fast: used by its link-local address"));
    }

    @Test
    void theirSocketsAreBoundToTheInterface() {
        LocalLink link = discover(up("eth0", 7, HERE_ONE)).links().getFirst();

        assertThat(link.bindAddress()).isEqualTo(Links.address("fe80::a1"));
        assertThat(((Inet6Address) link.bindAddress()).getScopeId()).isEqualTo(7);
        assertThat(software("routable", "fd00::1/64", 0).bindAddress())
                .isInstanceOfSatisfying(
                        Inet6Address.class,
                        address -> assertThat(address.getScopeId()).isZero());
    }

    @Test
    void endsOfContainersCablesAndBridgesAreNone() {
        HostInterfaces host = new HostInterfaces(
                List.of(
                        up("lo", 1, "127.0.0.1/8"),
                        up("veth12ab", 2, HERE_ONE),
                        up("calif00", 3, HERE_TWO),
                        up("docker0", 4, "fe80::4/64")),
                new InnerInterfaces(Set.of("docker0"), Set.of("veth12ab", "calif00")),
                Map.of());

        assertThat(LinkDiscovery.discover(Links.config(LinkPolicy.AUTO), List.of(), host)
                        .links())
                .map(LocalLink::interfaceName)
                .containsExactly("lo");
    }

    @Test
    void thePathsBetweenThemAreAllThatThereMayBeAndGoLast() {
        RoutingTable table = new RoutingTable(
                List.of(
                        software("one", HERE_ONE, 1),
                        software("two", HERE_TWO, 2),
                        software("cable", "10.0.12.1/24", 3),
                        software("routed", "192.168.1.5/24", 4)),
                address -> Optional.of(Links.address("192.168.1.5")).filter(_ -> address.getAddress()[0] == (byte) 172),
                Map.of(),
                List.of());

        List<Path> paths = table.pathsTo(peer(
                remote("fe80::b1/64", SOFTWARE),
                remote("fe80::b2/64", SOFTWARE),
                remote("10.0.12.2/24", SOFTWARE),
                remote("172.16.0.9/24", SOFTWARE)));

        assertThat(paths)
                .map(path -> path.local().name() + " " + path.remote().interfaceAddress())
                .containsExactly(
                        "cable 10.0.12.2/24",
                        "routed 172.16.0.9/24",
                        "one fe80::b1/64",
                        "one fe80::b2/64",
                        "two fe80::b1/64",
                        "two fe80::b2/64");
        assertThat(paths.subList(2, 6)).allMatch(path -> path.reason().isLinkLocal());
        assertThat(paths.subList(0, 2)).noneMatch(path -> path.reason().isLinkLocal());
    }

    @Test
    void interfacesThatShareASubnetHaveThemAsWellAndTheyGoFirst() {
        DiscoveredLinks found = discover(
                up("one", 2, "10.0.12.1/24", HERE_ONE),
                up("two", 3, "10.0.12.9/24", HERE_TWO),
                up("other", 4, "10.0.13.1/24", "fe80::a4/64"));
        assertThat(found.links())
                .map(link -> link.interfaceName() + " " + link.address())
                .containsExactlyInAnyOrder(
                        "one 10.0.12.1/24",
                        "one fe80::a1/64",
                        "two 10.0.12.9/24",
                        "two fe80::a2/64",
                        "other 10.0.13.1/24",
                        "other fe80::a4/64");

        List<Path> paths = new RoutingTable(found.links(), _ -> Optional.empty(), Map.of(), List.of())
                .pathsTo(peer(remote("10.0.12.2/24", SOFTWARE), remote("fe80::b1/64", SOFTWARE)));

        assertThat(paths)
                .map(path -> path.local().interfaceName() + " " + path.remote().interfaceAddress())
                .containsExactly("one fe80::b1/64", "two fe80::b1/64", "one 10.0.12.2/24", "two 10.0.12.2/24");
    }

    /** Its kernel may send to all of the subnet over another interface, which this node cannot see. */
    @Test
    void aPeerWithSeveralAddressesInOurSubnetIsAskedByThemFirst() {
        DiscoveredLinks found = discover(up("one", 2, "169.254.33.150/16", HERE_ONE));

        List<Path> paths = new RoutingTable(found.links(), _ -> Optional.empty(), Map.of(), List.of())
                .pathsTo(peer(
                        remote("169.254.77.31/16", SOFTWARE),
                        remote("169.254.140.9/16", SOFTWARE),
                        remote("fe80::b1/64", SOFTWARE),
                        remote("fe80::b2/64", SOFTWARE)));

        assertThat(paths)
                .map(path -> path.remote().interfaceAddress().toString())
                .containsExactly("fe80::b1/64", "fe80::b2/64", "169.254.77.31/16", "169.254.140.9/16");
    }

    /** The peer has one interface, and offers its link-local address beside the other one. */
    @Test
    void aNodeWithSeveralInterfacesInAPeersSubnetAsksByThemFirst() {
        DiscoveredLinks found =
                discover(up("one", 2, "169.254.77.31/16", HERE_ONE), up("two", 3, "169.254.140.9/16", HERE_TWO));

        List<Path> paths = new RoutingTable(found.links(), _ -> Optional.empty(), Map.of(), List.of())
                .pathsTo(peer(remote("169.254.33.150/16", SOFTWARE), remote("fe80::b1/64", SOFTWARE)));

        assertThat(paths)
                .map(path -> path.local().interfaceName() + " " + path.remote().interfaceAddress())
                .containsExactly(
                        "one fe80::b1/64", "two fe80::b1/64", "one 169.254.33.150/16", "two 169.254.33.150/16");
    }

    @Test
    void whereTheKernelSendsFromAnotherInterfaceTheyGoFirst() {
        DiscoveredLinks found = discover(up("one", 2, "10.0.12.1/24", HERE_ONE));
        Optional<InetAddress> elsewhere = Optional.of(Links.address("10.9.9.9"));

        List<Path> paths = new RoutingTable(found.links(), _ -> elsewhere, Map.of(), List.of())
                .pathsTo(peer(remote("10.0.12.2/24", SOFTWARE), remote("fe80::b1/64", SOFTWARE)));

        assertThat(paths)
                .map(path -> path.remote().interfaceAddress().toString())
                .containsExactly("fe80::b1/64", "10.0.12.2/24");
    }

    /** Each of them would be asked, and be silent for a second. */
    @Test
    void whereTheSubnetSaysWhichCableLeadsThereTheyAreNotTried() {
        DiscoveredLinks found =
                discover(up("one", 2, "10.0.12.1/24", HERE_ONE), up("two", 3, "10.0.13.1/24", HERE_TWO));
        RoutingTable table = new RoutingTable(found.links(), _ -> Optional.empty(), Map.of(), List.of());

        assertThat(table.pathsTo(peer(
                        remote("10.0.12.2/24", SOFTWARE),
                        remote("10.0.23.2/24", SOFTWARE),
                        remote("fe80::b1/64", SOFTWARE),
                        remote("fe80::b2/64", SOFTWARE))))
                .singleElement()
                .hasToString("peer 10.0.12.2 via one 10.0.12.1/24 (TCP), same subnet /24");
        assertThatExceptionOfType(NoPathException.class)
                .isThrownBy(
                        () -> table.pathsTo(peer(remote("10.0.9.2/24", SOFTWARE), remote("fe80::b1/64", SOFTWARE))));
    }

    /** Ethernet and wireless, say, beside the cables. */
    @Test
    void aCableGoesBeforeSlowInterfacesThatShareASubnet() {
        DiscoveredLinks found = discover(
                up("cable", 2, 200_000, "10.0.12.1/24"),
                up("eth0", 3, 1000, "192.168.1.5/24", HERE_ONE),
                up("wlan0", 4, 300, "192.168.1.6/24", HERE_TWO));

        List<Path> paths = new RoutingTable(found.links(), _ -> Optional.empty(), Map.of(), List.of())
                .pathsTo(peer(
                        remote("10.0.12.2/24", SOFTWARE),
                        remote("192.168.1.7/24", SOFTWARE),
                        remote("fe80::b1/64", SOFTWARE)));

        assertThat(paths)
                .map(path -> path.local().interfaceName() + " " + path.remote().interfaceAddress())
                .startsWith("cable 10.0.12.2/24", "eth0 fe80::b1/64", "eth0 192.168.1.7/24");
        assertThat(DisjointPaths.among(paths, 4))
                .noneMatch(path -> path.reason().isLinkLocal());
    }

    @Test
    void severalCablesOfAPeerCanBeUsedAtTheSameTime() {
        List<Path> all = table(software("one", HERE_ONE, 1), software("two", HERE_TWO, 2))
                .pathsTo(peer(remote("fe80::b1/64", SOFTWARE), remote("fe80::b2/64", SOFTWARE)));
        List<Path> answering = Stream.of(all.get(1), all.get(2)).toList();

        assertThat(DisjointPaths.among(answering, 4)).isEqualTo(answering);
    }

    @Test
    void aPeerWithoutThemIsNotReachedByThem() {
        assertThatExceptionOfType(NoPathException.class)
                .isThrownBy(() -> table(software("one", HERE_ONE, 1)).pathsTo(peer(remote("10.0.12.2/24", SOFTWARE))))
                .withMessageContaining("fe80::a1: one of it and 10.0.12.2 is link-local");
        assertThatExceptionOfType(NoPathException.class)
                .isThrownBy(() -> table(software("one", HERE_ONE, 1)).pathsTo(peer(remote("fe80::b1/64", RDMA))))
                .withMessageContaining("fe80::b1 is link-local, too, but there it is RDMA and here TCP");
    }

    /** The subnet of IPv4's link-local addresses is one like any other, and mostly one for each node's cables. */
    @Test
    void thoseOfIpv4AreOrdinaryAddresses() {
        DiscoveredLinks found = discover(
                up("one", 2, "169.254.28.198/16", HERE_ONE),
                up("two", 3, "169.254.91.14/16", HERE_TWO),
                up("other", 4, "10.0.13.1/24", "fe80::a4/64"));

        assertThat(found.links())
                .map(link -> link.interfaceName() + " " + link.address())
                .containsExactlyInAnyOrder(
                        "one 169.254.28.198/16",
                        "one fe80::a1/64",
                        "two 169.254.91.14/16",
                        "two fe80::a2/64",
                        "other 10.0.13.1/24",
                        "other fe80::a4/64");
        assertThat(SharedSubnets.warnings(found.links(), Links.NO_ROUTES))
                .singleElement()
                .asString()
                .contains("one 169.254.28.198/16 and two 169.254.91.14/16 are in one subnet")
                .contains("so their link-local IPv6 addresses go first");
        assertThat(found.links())
                .filteredOn(link -> link.address().address() instanceof Inet4Address)
                .allSatisfy(link -> {
                    assertThat(link.isLinkLocal()).isFalse();
                    assertThat(link.bindAddress()).isEqualTo(link.address().address());
                });
    }

    /** As DGX Spark is set up with netplan: no other address, not even of IPv6. */
    @Test
    void oneCableWithThoseOfIpv4AloneIsALink() {
        DiscoveredLinks found = discover(up("lo", 1, "127.0.0.1/8"), up("one", 2, "169.254.28.198/16"));

        assertThat(SharedSubnets.warnings(found.links(), Links.NO_ROUTES)).isEmpty();
        assertThat(new RoutingTable(found.links(), _ -> Optional.empty(), Map.of(), List.of())
                        .pathsTo(peer(remote("169.254.77.5/16", SOFTWARE))))
                .singleElement()
                .satisfies(path -> {
                    assertThat(path.local().interfaceName()).isEqualTo("one");
                    assertThat(path.reason()).hasToString("same subnet /16");
                });
        assertThat(SharedSubnets.warnings(
                        discover(up("one", 2, "169.254.28.198/16"), up("two", 3, "169.254.91.14/16"))
                                .links(),
                        Links.NO_ROUTES))
                .singleElement()
                .asString()
                .contains("and connections over the other may fail");
    }

    private static DiscoveredLinks discover(HostInterface... each) {
        return LinkDiscovery.discover(Links.config(LinkPolicy.AUTO), List.of(), interfaces(each));
    }
}
