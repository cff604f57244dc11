package trigon.routing.hardware;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import trigon.config.PluginConfig;
import trigon.config.file.ConfigLoader;
import trigon.routing.DiscoveredLinks;
import trigon.routing.Links;
import trigon.routing.LocalLink;
import trigon.routing.PeerDescription;
import trigon.routing.discovery.HostInterface;
import trigon.routing.discovery.HostInterfaces;
import trigon.routing.discovery.LinkDiscovery;
import trigon.routing.discovery.RdmaPort;
import trigon.routing.table.DisjointPaths;
import trigon.routing.table.RoutingTable;
import trigon.system.InterfaceAddress;
import trigon.testsupport.DgxSpark;
import trigon.testsupport.DgxSpark.Setup;
import trigon.verbs.LinkKind;

/** Four functions, two for each port, on two PCIe links: which links that makes, how fast, and what leads to a peer. */
class DgxSparkTest {

    /** Gen5 x4: 32 GT/s on 4 lanes, less encoding and packet headers. */
    private static final int PCI_LINK_MBPS = 113_605;

    private static final int MAX_STRIPES = 8;
    private static final PluginConfig NO_FILE = ConfigLoader.load(Map.of(), "spark");

    @TempDir
    @SuppressWarnings("NullAway.Init")
    Path sysfs;

    @BeforeEach
    void makeSysfs() throws IOException {
        DgxSpark.writeSysfs(sysfs);
    }

    @Test
    void ofACableBothTwinsAreLinksEachAsFastAsItsPciLink() throws IOException {
        assertThat(rdma(discover(NO_FILE, Setup.PAIR_A)))
                .satisfiesExactly(
                        link -> assertLink(link, "roceP2p1s0f0 192.168.101.1/24 (RDMA)", PCI_LINK_MBPS),
                        link -> assertLink(link, "rocep1s0f0 192.168.100.1/24 (RDMA)", PCI_LINK_MBPS))
                .allSatisfy(link -> assertThat(link.gidIndex()).isEqualTo(3));
    }

    @Test
    void functionsOfBothPortsShareTheirPciLink() throws IOException {
        assertThat(rdma(discover(NO_FILE, Setup.RING)))
                .hasSize(4)
                .allSatisfy(link -> assertThat(link.speedMbps()).isEqualTo(PCI_LINK_MBPS / 2));
    }

    /** What a BIOS setting has made of some. */
    @Test
    void aNarrowPciLinkIsNoticed() throws IOException {
        Path function = sysfs.resolve("class/infiniband/rocep1s0f0/device").toRealPath();
        Files.writeString(function.resolve("current_link_width"), "2\n");

        assertThat(rdma(discover(NO_FILE, Setup.PAIR_A)))
                .extracting(LocalLink::speedMbps)
                .containsExactly(PCI_LINK_MBPS, PCI_LINK_MBPS / 2);
    }

    @Test
    void aStatedSpeedStays() throws IOException {
        Path file = Files.writeString(sysfs.resolve("trigon.yaml"), """
                version: 1
                nodes:
                  a: {nics: [{device: rocep1s0f0, speedMbps: 190000}, {device: roceP2p1s0f0}]}
                  b: {nics: [{device: rocep1s0f0}]}
                """);
        PluginConfig config = ConfigLoader.load(Map.of("TRIGON_CONFIG", file.toString(), "TRIGON_NODE", "a"), "spark");

        assertThat(rdma(discover(config, Setup.PAIR_A)))
                .extracting(LocalLink::speedMbps)
                .containsExactly(190_000, PCI_LINK_MBPS);
    }

    @Test
    void softwareLinksAreNoFasterThanTheirPciLinkEither() throws IOException {
        PluginConfig config = ConfigLoader.load(Map.of("TRIGON_LINKS", "software"), "spark");

        assertThat(discover(config, Setup.RING).links())
                .filteredOn(link -> link.interfaceName().startsWith("enp1") && !link.isLinkLocal())
                .hasSize(2)
                .allSatisfy(link -> assertThat(link.speedMbps()).isEqualTo(PCI_LINK_MBPS / 2));
    }

    @Test
    void bothTwinsLeadToThePeerAtTheSameTime() throws IOException {
        DiscoveredLinks here = discover(NO_FILE, Setup.PAIR_A);
        PeerDescription there =
                new PeerDescription(OptionalInt.empty(), Links.advertised(discover(NO_FILE, Setup.PAIR_B)));
        RoutingTable table = RoutingTable.of(NO_FILE, here, _ -> Optional.empty());
        int most = NO_FILE.stripes().mostLinks(true, MAX_STRIPES);

        assertThat(DisjointPaths.among(table.pathsTo(there), most))
                .extracting(Object::toString)
                .containsExactly(
                        "peer 192.168.100.2 via rocep1s0f0 192.168.100.1/24 (RDMA), same subnet /24",
                        "peer 192.168.101.2 via roceP2p1s0f0 192.168.101.1/24 (RDMA), same subnet /24");
    }

    @Test
    void twinsInOneSubnetAreWarnedOf() throws IOException {
        assertThat(warnings(Setup.PAIR_ONE_SUBNET))
                .singleElement()
                .asString()
                .contains("rocep1s0f0 192.168.100.1/24", "roceP2p1s0f0 192.168.100.3/24", "two functions of one port")
                .contains("give each function a subnet of its own, on both nodes");
        assertThat(warnings(Setup.PAIR_A)).isEmpty();
        assertThat(warnings(Setup.RING)).isEmpty();
    }

    @Test
    void whereTheKernelSaysNothingTheLabelCounts() throws IOException {
        NicHardware unknown = new NicHardware(sysfs.resolve("missing"));
        DiscoveredLinks found = found(NO_FILE, Setup.RING);

        assertThat(new LinkSpeeds(unknown).limit(NO_FILE, found)).isEqualTo(found);
        assertThat(found.links()).allSatisfy(link -> {
            assertThat(unknown.pciFunction(link)).isEmpty();
            assertThat(unknown.cable(link)).isEmpty();
        });
    }

    private void assertLink(LocalLink link, String text, int mbps) {
        assertThat(link).hasToString(text);
        assertThat(link.speedMbps()).isEqualTo(mbps);
        assertThat(new NicHardware(sysfs).pciFunction(link))
                .hasValueSatisfying(function -> assertThat(function).hasToString(pciOf(link)));
    }

    private String pciOf(LocalLink link) {
        String domain = link.deviceName().contains("P2") ? "0002" : "0000";
        return "%s/devices/pci%s:00/%s:00:00.0/%s:01:00.0".formatted(sysfs, domain, domain, domain);
    }

    private List<String> warnings(Setup setup) throws IOException {
        return TwinFunctions.warnings(discover(NO_FILE, setup).links(), new NicHardware(sysfs));
    }

    private DiscoveredLinks discover(PluginConfig config, Setup setup) throws IOException {
        return new LinkSpeeds(new NicHardware(sysfs)).limit(config, found(config, setup));
    }

    private static DiscoveredLinks found(PluginConfig config, Setup setup) throws IOException {
        List<RdmaPort> ports = DgxSpark.functions(setup).stream()
                .map(each -> new RdmaPort(each.device(), 1, each.port(), each.gidTable()))
                .toList();
        List<HostInterface> interfaces = DgxSpark.interfaces(setup).stream()
                .map(each -> new HostInterface(
                        each.name(), each.index(), each.up(), each.name().equals("lo"), addresses(each), 200_000))
                .toList();
        return LinkDiscovery.discover(config, ports, new HostInterfaces(interfaces));
    }

    private static List<InterfaceAddress> addresses(DgxSpark.Interface of) {
        return of.addresses().stream().map(InterfaceAddress::parse).toList();
    }

    private static Stream<LocalLink> rdma(DiscoveredLinks found) {
        return found.links().stream().filter(link -> link.kind() == LinkKind.RDMA);
    }
}
