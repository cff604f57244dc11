package trigon.routing.discovery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static trigon.routing.Links.down;
import static trigon.routing.Links.gid;
import static trigon.routing.Links.interfaces;
import static trigon.routing.Links.port;
import static trigon.routing.Links.roce;
import static trigon.routing.Links.up;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import trigon.config.PluginConfig;
import trigon.config.Settings;
import trigon.config.setting.ConfigException;
import trigon.config.setting.LinkPolicy;
import trigon.routing.DiscoveredLinks;
import trigon.routing.LeftOut;
import trigon.routing.LinkUse;
import trigon.routing.Links;
import trigon.routing.LocalLink;
import trigon.routing.PeerDescription;
import trigon.routing.discovery.HostInterface.AddressState;
import trigon.routing.table.NoPathException;
import trigon.routing.table.RoutingTable;
import trigon.system.InterfaceAddress;
import trigon.verbs.Gid;
import trigon.verbs.GidEntry;
import trigon.verbs.LinkKind;
import trigon.verbs.LinkLayer;
import trigon.verbs.Mtu;
import trigon.verbs.PortAttributes;
import trigon.verbs.PortState;

/** Discovery without a configuration file. */
class AutomaticLinksTest {

    private static final HostInterfaces HOST = interfaces(
            up("lo", 1, "127.0.0.1/8", "::1/128"),
            up("eth0", 2, "192.168.1.5/24", "fe80::2/64"),
            up("va", 3, "10.0.12.1/24", "fe80::3/64"),
            up("vb", 4, "10.0.13.1/24"));

    @Test
    void offersEveryActivePortAsRdmaAndAsSoftware() {
        DiscoveredLinks found =
                discover(LinkPolicy.AUTO, HOST, roce("rxe_b", 4, "10.0.13.1"), roce("rxe_a", 3, "10.0.12.1"));

        assertThat(found.links())
                .map(LocalLink::toString)
                .containsExactly(
                        "rxe_a 10.0.12.1/24 (RDMA)",
                        "va 10.0.12.1/24 (TCP)",
                        "rxe_b 10.0.13.1/24 (RDMA)",
                        "vb 10.0.13.1/24 (TCP)");
        assertThat(found.leftOut())
                .contains(new LeftOut("eth0", LeftOut.Cause.noRdmaInterface()))
                .anySatisfy(
                        each -> assertThat(each).hasToString("eth0: not an RDMA port's interface, and there are such"));
    }

    @Test
    void choosesTheGidByAddressAndType() {
        LocalLink link = discover(LinkPolicy.RDMA, HOST, roce("rxe_a", 3, "10.0.12.1"))
                .links()
                .getFirst();

        assertThat(link)
                .isEqualTo(new LocalLink(
                        "rxe_a",
                        LinkKind.RDMA,
                        "rxe_a",
                        1,
                        InterfaceAddress.parse("10.0.12.1/24"),
                        2,
                        Gid.of(Links.address("10.0.12.1")),
                        100_000,
                        "va",
                        3,
                        0));
    }

    @Test
    void makesALinkOfEveryAddressOfAPort() {
        HostInterfaces host = interfaces(up("va", 3, "10.0.12.1/24", "10.0.99.1/28", "fd00::1/64"));

        assertThat(discover(LinkPolicy.AUTO, host, roce("rxe_a", 3, "fd00::1", "10.0.99.1", "10.0.12.1"))
                        .links())
                .map(link -> link.deviceName() + " " + link.address() + " " + link.gidIndex())
                .containsExactly(
                        "rxe_a 10.0.12.1/24 6",
                        "va 10.0.12.1/24 0",
                        "rxe_a 10.0.99.1/28 4",
                        "va_2 10.0.99.1/28 0",
                        "rxe_a fd00::1/64 2",
                        "va_3 fd00::1/64 0");
    }

    @Test
    void findsTheInterfaceByAddressIfTheGidDoesNotTell() {
        assertThat(discover(LinkPolicy.RDMA, HOST, roce("rxe_a", 0, "10.0.12.1"))
                        .links())
                .singleElement()
                .satisfies(link -> assertThat(link.interfaceName()).isEqualTo("va"));
    }

    @Test
    void usesTheForcedGid() {
        List<RdmaPort> ports = List.of(roce("rxe_a", 3, "10.0.12.1"));

        assertThat(LinkDiscovery.discover(gidIndex(0), ports, HOST).links())
                .singleElement()
                .satisfies(link ->
                        assertThat(link.address() + " " + link.gid()).isEqualTo("10.0.12.1/24 fe80:0:0:0:0:0:0:3"));
        assertThat(LinkDiscovery.discover(gidIndex(1), ports, HOST).links())
                .singleElement()
                .satisfies(link -> assertThat(link.gidIndex()).isOne());
        assertThatExceptionOfType(ConfigException.class)
                .isThrownBy(() -> LinkDiscovery.discover(gidIndex(9), ports, HOST))
                .withMessageContaining("rxe_a: its GID table has no entry 9, which queuePair.gidIndex forces");
    }

    @Test
    void usesOnlyTheConfiguredPort() {
        RdmaPort one = roce("mlx5_0", 3, "10.0.12.1");
        RdmaPort two = new RdmaPort(
                "mlx5_0", 2, one.attributes(), roce("x", 4, "10.0.13.1").gidTable());

        assertThat(LinkDiscovery.discover(
                                Links.config(LinkPolicy.RDMA, Settings.PORT, Optional.of(2)), List.of(one, two), HOST)
                        .links())
                .singleElement()
                .hasToString("mlx5_0:2 10.0.13.1/24 (RDMA)");
    }

    @Test
    void leavesOutPortsThatCannotCarryData() {
        RdmaPort inactive = new RdmaPort(
                "rxe_down",
                1,
                port(PortState.DOWN, LinkLayer.ETHERNET),
                roce("x", 3, "10.0.12.1").gidTable());
        RdmaPort stale = roce("rxe_stale", 3, "10.9.9.9");
        RdmaPort linkLocal = roce("rxe_local", 3);
        HostInterfaces host = interfaces(up("va", 3, "10.0.12.1/24"), down("vd", 5, "10.0.15.1/24"));
        RdmaPort interfaceDown = roce("rxe_vd", 5, "10.0.15.1");

        assertThatExceptionOfType(ConfigException.class)
                .isThrownBy(() -> discover(LinkPolicy.RDMA, host, inactive, stale, linkLocal, interfaceDown))
                .withMessageContainingAll(
                        "links is rdma (default), but there is no RDMA link",
                        "rxe_down: the port is DOWN, not ACTIVE",
                        "rxe_stale: GID 2 (::ffff:10.9.9.9) is no interface's address",
                        "rxe_local: no usable IP address; its GIDs are 0 fe80:",
                        "rxe_vd: its interface vd is down");
    }

    @Test
    void requiresRdmaIfToldSo() {
        assertThatExceptionOfType(ConfigException.class)
                .isThrownBy(() -> discover(LinkPolicy.RDMA, HOST))
                .withMessageContaining("no RDMA device is known");
    }

    @Test
    void fallsBackToInterfacesWithoutRdma() {
        DiscoveredLinks found = discover(LinkPolicy.AUTO, HOST);

        assertThat(found.links())
                .map(LocalLink::toString)
                .containsExactly(
                        "eth0 192.168.1.5/24 (TCP)",
                        "eth0 fe80::2/64 (TCP)",
                        "va 10.0.12.1/24 (TCP)",
                        "va fe80::3/64 (TCP)",
                        "vb 10.0.13.1/24 (TCP)");
        assertThat(found.links().getFirst().speedMbps()).isEqualTo(25_000);
        assertThat(found.leftOut()).contains(new LeftOut("lo", LeftOut.Cause.betterInterfaces()));
    }

    /** The kernel takes others for new connections, and a deprecated address may go soon. */
    @Test
    void deprecatedAddressesGoBehindAllOthersAndUnusableOnesAreNamed() {
        HostInterfaces host = interfaces(
                withStates(
                        "va",
                        List.of("fd00:12::1/64", "fd00:99::1/64"),
                        Map.of(
                                "fd00:12::1/64", AddressState.DEPRECATED,
                                "fd00:12::9/64", AddressState.FAILED,
                                "fe80::3/64", AddressState.TENTATIVE)),
                up("vb", 4, 1_000, "fd00:13::1/64"));

        DiscoveredLinks found = discover(LinkPolicy.SOFTWARE, host);

        assertThat(found.links())
                .map(LocalLink::toString)
                .containsExactly("va fd00:99::1/64 (TCP)", "vb fd00:13::1/64 (TCP)", "va fd00:12::1/64 (TCP)");
        assertThat(found.links().getLast().countedMbps()).isZero();
        assertThat(found.leftOut())
                .map(LeftOut::toString)
                .anyMatch(text -> text.startsWith("va: fd00:12::9/64 is not used: another machine on this link has it"))
                .anyMatch(text -> text.startsWith("va: fe80::3/64 is not used: the kernel still checks"));
    }

    private static HostInterface withStates(String name, List<String> usable, Map<String, AddressState> states) {
        return new HostInterface(
                name,
                3,
                true,
                false,
                usable.stream().map(InterfaceAddress::parse).toList(),
                25_000,
                LinkUse.DATA,
                states.entrySet().stream()
                        .collect(Collectors.toMap(each -> InterfaceAddress.parse(each.getKey()), Map.Entry::getValue)));
    }

    /** All nodes are on eth0's network as well: what a cable reaches must not go there. */
    @Test
    void ranksTheFastestInterfacesFirst() {
        HostInterfaces host = interfaces(
                up("eth0", 2, 1_000, "192.168.1.5/24"),
                up("va", 3, 25_000, "10.0.12.1/24"),
                up("vb", 4, 100_000, "10.0.13.1/24"),
                up("vc", 5, 100_000, "10.0.14.1/24"));

        DiscoveredLinks found = discover(LinkPolicy.SOFTWARE, host);

        assertThat(found.links()).map(LocalLink::name).containsExactly("vb", "vc", "va", "eth0");
        PeerDescription peer = Links.peer(
                Links.remote("192.168.1.6/24", LinkKind.SOFTWARE), Links.remote("10.0.12.2/24", LinkKind.SOFTWARE));
        assertThat(Links.table(found.links().toArray(LocalLink[]::new)).pathsTo(peer))
                .map(path -> path.local().name())
                .containsExactly("va", "eth0");
    }

    @Test
    void ranksTheFastestPortsFirst() {
        PortAttributes slow =
                new PortAttributes(PortState.ACTIVE, Mtu.MTU_4096, 1L << 30, 0, LinkLayer.ETHERNET, 25_000);

        DiscoveredLinks found =
                discover(LinkPolicy.RDMA, HOST, roce("rxe_a", slow, 3, "10.0.12.1"), roce("rxe_b", 4, "10.0.13.1"));

        assertThat(found.links()).map(LocalLink::name).containsExactly("rxe_b", "rxe_a");
    }

    @Test
    void ignoresRdmaIfLinksAreSoftware() {
        assertThat(discover(LinkPolicy.SOFTWARE, HOST, roce("rxe_a", 3, "10.0.12.1"))
                        .links())
                .hasSize(5)
                .allSatisfy(link -> assertThat(link.kind()).isEqualTo(LinkKind.SOFTWARE));
    }

    @Test
    void usesBridgesAndLoopbackOnlyIfNothingElseIsLeft() {
        HostInterface lo = up("lo", 1, "127.0.0.1/8");
        HostInterface docker = up("docker0", 2, "172.17.0.1/16");
        HostInterface network = up("br-0123456789ab", 3, "172.18.0.1/16");
        HostInterface off = down("eth0", 4, "192.168.1.5/24");
        HostInterface plain = up("eth1", 5);
        HostInterface bridge = up("br-lan", 6, "192.168.7.1/24");

        assertThat(names(lo, docker, network, off, plain, bridge)).containsExactly("br-lan", "eth0");
        assertThat(names(lo, docker, network, plain)).containsExactly("docker0", "br-0123456789ab");
        assertThat(names(lo, plain)).containsExactly("lo");
        assertThat(names(plain)).isEmpty();
        assertThat(names(lo, down("docker0", 2, "172.17.0.1/16"))).containsExactly("lo");
        assertThat(names(lo, docker, plain, off)).as("it may come up").containsExactly("eth0");
        assertThat(names(off, bridge)).as("what is up goes first").containsExactly("br-lan", "eth0");
    }

    @Test
    void whatIsDownAtInitIsWarnedOfByName() {
        DiscoveredLinks found = discover(
                LinkPolicy.AUTO, interfaces(up("va", 3, "10.0.12.1/24"), down("vd", 5, "10.0.15.1/24"), down("vx", 6)));

        assertThat(found.leftOut())
                .containsExactlyInAnyOrder(
                        new LeftOut("vd", LeftOut.Cause.downAtInit()),
                        new LeftOut("vx", LeftOut.Cause.interfaceDown()));
        assertThat(found.leftOut().stream()
                        .filter(each -> each.cause().weight() == LeftOut.Weight.SUSPECT)
                        .map(LeftOut::toString))
                .singleElement()
                .asString()
                .startsWith("vd: down, or without a carrier; it is used once it is up");
        assertThatExceptionOfType(NoPathException.class)
                .isThrownBy(() -> RoutingTable.of(Links.config(LinkPolicy.AUTO), found, _ -> Optional.empty())
                        .pathsTo(Links.peer(Links.remote("10.9.9.2/24", LinkKind.SOFTWARE))))
                .withMessageContaining("Was down at init: vx, vd")
                .returns(true, NoPathException::wereLinksDown);
    }

    @Test
    void findsInfinibandPortsByTheirInterface() {
        GidEntry known = new GidEntry(0, new Gid(0xfe80_0000_0000_0000L, 5), GidEntry.Type.INFINIBAND, 2);
        GidEntry unknown = new GidEntry(0, new Gid(0xfe80_0000_0000_0000L, 6), GidEntry.Type.INFINIBAND, 0);
        HostInterfaces host = interfaces(up("ib0", 2, "10.1.0.1/16"));
        PortAttributes active = port(PortState.ACTIVE, LinkLayer.INFINIBAND);

        DiscoveredLinks found = discover(
                LinkPolicy.RDMA,
                host,
                new RdmaPort("mlx5_0", 1, active, List.of(known)),
                new RdmaPort("mlx5_1", 1, active, List.of(unknown)));

        assertThat(found.links()).singleElement().satisfies(link -> {
            assertThat(link).hasToString("mlx5_0 10.1.0.1/16 (RDMA)");
            assertThat(link.gid()).isEqualTo(known.gid());
        });
        assertThat(found.leftOut())
                .contains(new LeftOut("mlx5_1", LeftOut.Cause.noInterfaceOfGid(0)))
                .anySatisfy(each -> assertThat(each.toString())
                        .startsWith("mlx5_1: the network interface behind GID 0 is not known"));
    }

    @Test
    void doesNotDependOnTheOrderOfSnapshots() {
        RdmaPort a = roce("rxe_a", 3, "10.0.12.1");
        RdmaPort b = roce("rxe_b", 4, "10.0.13.1");
        HostInterfaces reversed = new HostInterfaces(HOST.interfaces().reversed());
        RdmaPort shuffled =
                new RdmaPort("rxe_a", 1, a.attributes(), a.gidTable().reversed());

        assertThat(discover(LinkPolicy.AUTO, reversed, b, shuffled)).isEqualTo(discover(LinkPolicy.AUTO, HOST, a, b));
    }

    @Test
    void ignoresUnusedGids() {
        RdmaPort port = new RdmaPort(
                "rxe_a",
                1,
                port(PortState.ACTIVE, LinkLayer.ETHERNET),
                List.of(
                        gid(0, "::", GidEntry.Type.ROCE_V2, 3),
                        gid(5, "10.0.12.1", GidEntry.Type.ROCE_V2, 3),
                        gid(7, "10.0.12.1", GidEntry.Type.ROCE_V2, 3)));

        assertThat(discover(LinkPolicy.RDMA, HOST, port).links())
                .singleElement()
                .satisfies(link -> assertThat(link.gidIndex()).isEqualTo(5));
    }

    private static PluginConfig gidIndex(int index) {
        return Links.config(LinkPolicy.RDMA, Settings.GID_INDEX, Optional.of(index));
    }

    private static List<String> names(HostInterface... interfaces) {
        return discover(LinkPolicy.AUTO, interfaces(Set.of("docker0", "br-0123456789ab"), interfaces)).links().stream()
                .map(LocalLink::interfaceName)
                .toList();
    }

    private static DiscoveredLinks discover(LinkPolicy policy, HostInterfaces host, RdmaPort... ports) {
        return LinkDiscovery.discover(Links.config(policy), List.of(ports), host);
    }
}
