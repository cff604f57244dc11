package trigon.routing.discovery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static trigon.routing.Links.down;
import static trigon.routing.Links.interfaces;
import static trigon.routing.Links.nic;
import static trigon.routing.Links.port;
import static trigon.routing.Links.roce;
import static trigon.routing.Links.up;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import trigon.config.cluster.NicConfig;
import trigon.config.cluster.NicReference;
import trigon.config.cluster.NodeConfig;
import trigon.config.setting.ConfigException;
import trigon.config.setting.LinkPolicy;
import trigon.routing.DiscoveredLinks;
import trigon.routing.LeftOut;
import trigon.routing.Links;
import trigon.routing.LocalLink;
import trigon.verbs.Gid;
import trigon.verbs.GidEntry;
import trigon.verbs.LinkLayer;
import trigon.verbs.PortState;

/** Discovery of the NICs that a configuration file lists. */
class ConfiguredLinksTest {

    private static final HostInterfaces HOST = interfaces(
            up("lo", 1, "127.0.0.1/8"),
            up("eth0", 2, "192.168.1.5/24"),
            up("va", 3, "10.0.12.1/24", "10.0.99.1/24"),
            up("vb", 4, "10.0.13.1/24"),
            down("vd", 5, "10.0.15.1/24"));
    private static final List<RdmaPort> PORTS =
            List.of(roce("rxe_ab", 3, "10.0.12.1", "10.0.99.1"), roce("rxe_ac", 4, "10.0.13.1"));

    @Test
    void takesExactlyTheListedNicsInTheirOrder() {
        assertThat(links(LinkPolicy.AUTO, nic("", "10.0.13.1/24"), nic("rxe_ab", "10.0.12.1/24")))
                .containsExactly(
                        "rxe_ac 10.0.13.1/24 (RDMA)",
                        "vb 10.0.13.1/24 (TCP)",
                        "rxe_ab 10.0.12.1/24 (RDMA)",
                        "va 10.0.12.1/24 (TCP)");
    }

    @Test
    void takesAllAddressesOfADeviceWithoutOne() {
        assertThat(links(LinkPolicy.RDMA, nic("rxe_ab", "")))
                .containsExactly("rxe_ab 10.0.12.1/24 (RDMA)", "rxe_ab 10.0.99.1/24 (RDMA)");
        assertThat(links(LinkPolicy.SOFTWARE, nic("rxe_ab", "")))
                .containsExactly("va 10.0.12.1/24 (TCP)", "va 10.0.99.1/24 (TCP)");
    }

    @Test
    void takesAnInterfaceForADevice() {
        assertThat(links(LinkPolicy.AUTO, nic("vb", "")))
                .containsExactly("rxe_ac 10.0.13.1/24 (RDMA)", "vb 10.0.13.1/24 (TCP)");
        assertThat(links(LinkPolicy.AUTO, nic("eth0", ""))).containsExactly("eth0 192.168.1.5/24 (TCP)");
    }

    /** {@code ip link} shows such names, and accepts them. */
    @ParameterizedTest
    @ValueSource(strings = {"vb", "enp73s0f0np0"})
    void takesAnAlternativeNameForAnInterface(String name) {
        HostInterfaces host = new HostInterfaces(HOST.interfaces(), HOST.inner(), Map.of("enp73s0f0np0", "vb"));
        Map<Integer, NicReference> peers = Map.of(1, new NicReference.ByName(name, Links.LINE));
        DiscoveredLinks found =
                LinkDiscovery.discover(Links.config(LinkPolicy.AUTO, peers, nic(name, "")), PORTS, host);

        assertThat(found.links())
                .map(LocalLink::toString)
                .containsExactly("rxe_ac 10.0.13.1/24 (RDMA)", "vb 10.0.13.1/24 (TCP)");
        assertThat(found.overrides()).containsOnlyKeys(1);
        assertThat(host.otherNamesOf("vb")).containsExactly("enp73s0f0np0");
    }

    @Test
    void mixesRdmaAndSoftware() {
        assertThat(links(LinkPolicy.AUTO, nic("", "192.168.1.5/24"), nic("", "10.0.13.1/24")))
                .containsExactly("eth0 192.168.1.5/24 (TCP)", "rxe_ac 10.0.13.1/24 (RDMA)", "vb 10.0.13.1/24 (TCP)");
    }

    @Test
    void believesTheFilesPrefixAndSaysSo() {
        DiscoveredLinks found = LinkDiscovery.discover(
                Links.config(LinkPolicy.AUTO, Map.of(), nic("rxe_ab", "10.0.12.1/28")), PORTS, HOST);

        assertThat(found.links()).map(LocalLink::address).map(Object::toString).containsOnly("10.0.12.1/28");
        assertThat(found.leftOut())
                .map(LeftOut::toString)
                .containsExactly("rxe_ab 10.0.12.1/28: the file's prefix is not the interface's, which is"
                        + " 10.0.12.1/24; the file's is used, and peers that the kernel cannot reach by it fail"
                        + " later: correct the file or the interface");
    }

    @Test
    void saysWhichNicsHaveNoRdma() {
        DiscoveredLinks found = LinkDiscovery.discover(
                Links.config(LinkPolicy.AUTO, Map.of(), nic("", "192.168.1.5/24"), nic("", "10.0.13.1/24")),
                PORTS,
                HOST);

        assertThat(found.leftOut())
                .singleElement()
                .asString()
                .startsWith("192.168.1.5/24: carries data over TCP, since no active RDMA port has an address of it");
    }

    @Test
    void takesLoopbackAddressesThatNobodyConfigured() {
        assertThat(links(LinkPolicy.SOFTWARE, nic("", "127.0.12.1/24"), nic("", "127.0.13.1/24")))
                .containsExactly("lo 127.0.12.1/24 (TCP)", "lo 127.0.13.1/24 (TCP)");
    }

    @Test
    void needsNoDeviceForASoftwareLinkWithAnAddress() {
        assertThat(LinkDiscovery.discover(
                                Links.config(LinkPolicy.SOFTWARE, Map.of(), nic("rxe_gone", "10.0.12.1/24")),
                                List.of(),
                                HOST)
                        .links())
                .singleElement()
                .hasToString("va 10.0.12.1/24 (TCP)");
        assertThat(error(LinkPolicy.SOFTWARE, nic("rxe_gone", ""))).contains("neither an RDMA device nor an interface");
    }

    @Test
    void listsALinkOnceIfTwoNicsNameIt() {
        assertThat(links(LinkPolicy.RDMA, nic("rxe_ab", ""), nic("va", "10.0.12.1/24")))
                .hasSize(2);
    }

    @Test
    void rejectsADeviceThatDoesNotExist() {
        assertThat(error(LinkPolicy.AUTO, nic("rxe_ba", "10.0.12.1/24")))
                .startsWith("/etc/trigon.yaml:9: the NIC rxe_ba 10.0.12.1/24 cannot be used (links is auto): there is"
                        + " neither an RDMA device nor an interface of that name; did you mean rxe_ab?")
                .contains("RDMA ports: rxe_ab, rxe_ac.", "Interfaces: lo 127.0.0.1/8, eth0 192.168.1.5/24, va ");
    }

    @Test
    void rejectsADeviceWithoutTheAddress() {
        assertThat(error(LinkPolicy.AUTO, nic("rxe_ab", "10.0.13.1/24")))
                .contains("no active RDMA port of it has the address 10.0.13.1");
        assertThat(error(LinkPolicy.AUTO, nic("eth0", "10.0.13.1/24")))
                .contains("the address is on another interface, vb");
    }

    @ParameterizedTest
    @EnumSource(LinkPolicy.class)
    void rejectsAnAddressThatNothingHas(LinkPolicy policy) {
        assertThat(error(policy, nic("", "10.77.0.1/24")))
                .contains("the NIC 10.77.0.1/24 cannot be used", "has the address");
    }

    @Test
    void rejectsAnInactivePort() {
        RdmaPort inactive = new RdmaPort(
                "rxe_ab",
                1,
                port(PortState.DOWN, LinkLayer.ETHERNET),
                PORTS.getFirst().gidTable());

        assertThatExceptionOfType(ConfigException.class)
                .isThrownBy(() -> LinkDiscovery.discover(
                        Links.config(LinkPolicy.AUTO, Map.of(), nic("rxe_ab", "10.0.12.1/24")),
                        List.of(inactive),
                        HOST))
                .withMessageContaining("(rxe_ab: the port is DOWN, not ACTIVE)");
    }

    @Test
    void takesAnInterfaceThatIsDownAndWarnsOfIt() {
        for (NicConfig nic : List.of(nic("vd", ""), nic("", "10.0.15.1/24"))) {
            DiscoveredLinks found =
                    LinkDiscovery.discover(Links.config(LinkPolicy.SOFTWARE, Map.of(), nic), List.of(), HOST);

            assertThat(found.links()).map(LocalLink::toString).containsExactly("vd 10.0.15.1/24 (TCP)");
            assertThat(found.leftOut()).contains(new LeftOut("vd", LeftOut.Cause.downAtInit()));
        }
    }

    @Test
    void requiresRdmaOfEveryNicIfToldSo() {
        assertThat(error(LinkPolicy.RDMA, nic("rxe_ab", ""), nic("", "192.168.1.5/24")))
                .contains("the NIC 192.168.1.5/24 cannot be used (links is rdma)")
                .contains("no active RDMA port has the address 192.168.1.5");
    }

    @Test
    void takesTheUsersWordForInfiniband() {
        RdmaPort port = new RdmaPort(
                "mlx5_0",
                1,
                port(PortState.ACTIVE, LinkLayer.INFINIBAND),
                List.of(new GidEntry(0, new Gid(0xfe80_0000_0000_0000L, 5), GidEntry.Type.INFINIBAND, 0)));
        HostInterfaces host = interfaces(up("ib0", 2, "10.1.0.1/16"));

        assertThat(LinkDiscovery.discover(
                                Links.config(LinkPolicy.RDMA, Map.of(), nic("mlx5_0", "10.1.0.1/16")),
                                List.of(port),
                                host)
                        .links())
                .singleElement()
                .satisfies(link -> assertThat(link.interfaceName()).isEqualTo("ib0"));
    }

    @Test
    void saysWhoseAddressesTheseAreWhereTheNodeIsMistaken() {
        NodeConfig a = new NodeConfig("a", 0, List.of(nic("", "10.77.0.1/24")), Links.LINE);
        NodeConfig b = new NodeConfig("b", 1, List.of(nic("", "10.0.12.1/24"), nic("", "10.0.13.1/24")), Links.LINE);

        assertThatThrownBy(() ->
                        LinkDiscovery.discover(Links.config(LinkPolicy.SOFTWARE, Map.of(), a, b), List.of(), HOST))
                .isInstanceOf(ConfigException.class)
                .hasMessageEndingWith(". These are the addresses of node b: is TRIGON_NODE meant to be b here?");
    }

    @ParameterizedTest
    @ValueSource(strings = {"rxe_ab", "va"})
    void resolvesPrescribedNicsByName(String name) {
        DiscoveredLinks found = LinkDiscovery.discover(
                Links.config(
                        LinkPolicy.AUTO,
                        Map.of(1, new NicReference.ByName(name, Links.LINE)),
                        nic("rxe_ab", "10.0.12.1/24"),
                        nic("", "10.0.13.1/24")),
                PORTS,
                HOST);

        assertThat(found.overrides()).containsOnlyKeys(1);
        assertThat(found.overrides().values())
                .singleElement()
                .satisfies(override -> assertThat(override.addresses()).containsExactly(Links.address("10.0.12.1")));
    }

    @Test
    void resolvesPrescribedNicsByTheNameInTheFileForSoftwareLinksToo() {
        DiscoveredLinks found = LinkDiscovery.discover(
                Links.config(
                        LinkPolicy.SOFTWARE,
                        Map.of(1, new NicReference.ByName("rxe_ab", Links.LINE)),
                        nic("", "10.0.13.1/24"),
                        nic("rxe_ab", "10.0.12.1/24")),
                List.of(),
                HOST);

        assertThat(found.overrides().values())
                .singleElement()
                .satisfies(override -> assertThat(override.addresses()).containsExactly(Links.address("10.0.12.1")));
    }

    @Test
    void rejectsPrescribedNicsThatAreNotListed() {
        assertThatExceptionOfType(ConfigException.class)
                .isThrownBy(() -> LinkDiscovery.discover(
                        Links.config(
                                LinkPolicy.AUTO,
                                Map.of(1, new NicReference.ByName("rxe_ac", Links.LINE)),
                                nic("rxe_ab", "10.0.12.1/24")),
                        PORTS,
                        HOST))
                .withMessage("/etc/trigon.yaml:9: rxe_ac, prescribed for a peer, is none of this node's NICs; they are"
                        + " rxe_ab 10.0.12.1/24 (RDMA) on va, va 10.0.12.1/24 (TCP) on va");
    }

    private static List<String> links(LinkPolicy policy, NicConfig... nics) {
        return LinkDiscovery.discover(Links.config(policy, Map.of(), nics), PORTS, HOST).links().stream()
                .map(LocalLink::toString)
                .toList();
    }

    private static String error(LinkPolicy policy, NicConfig... nics) {
        try {
            links(policy, nics);
        } catch (ConfigException e) {
            return String.valueOf(e.getMessage());
        }
        throw new AssertionError("discovered without an error");
    }
}
