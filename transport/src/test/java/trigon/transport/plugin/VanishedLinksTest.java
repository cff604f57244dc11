package trigon.transport.plugin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import trigon.config.PluginConfig;
import trigon.config.Settings;
import trigon.config.cluster.ClusterConfig;
import trigon.config.cluster.NicConfig;
import trigon.config.cluster.NodeConfig;
import trigon.config.setting.LinkPolicy;
import trigon.config.setting.Setting;
import trigon.config.setting.SettingValues;
import trigon.config.setting.Source;
import trigon.handshake.message.HandshakeException;
import trigon.nccl.NetPlugin;
import trigon.routing.DiscoveredLinks;
import trigon.routing.LinkSearch;
import trigon.routing.LocalLink;
import trigon.software.SoftwareDevice;
import trigon.software.device.SoftwareVerbs;
import trigon.system.InterfaceAddress;
import trigon.testsupport.Await;
import trigon.transport.metrics.Metrics;
import trigon.transport.request.RequestTable;
import trigon.transport.testsupport.CapturedLog;
import trigon.transport.testsupport.LaneVerbs;
import trigon.verbs.Gid;
import trigon.verbs.LinkKind;

/** A link that was found, and whose address the machine does not have any more when it is opened. */
@Timeout(120)
class VanishedLinksTest {

    private static final LocalLink CABLE = link(0, "127.3.1.1/24");

    /** An address of documentation: nobody can listen there. */
    private static final LocalLink GONE = link(1, "192.0.2.1/24");

    private static final PluginConfig AUTOMATIC =
            PluginConfig.withoutFile(new Setting<>(LinkPolicy.SOFTWARE, Source.DEFAULT));

    @Test
    void itIsLeftOutWithOneLineAndTheOthersServe() {
        try (CapturedLog log = new CapturedLog();
                SoftwareVerbs software = verbs(GONE, CABLE);
                RoutedNetPlugin plugin = open(AUTOMATIC, software, List.of(), GONE, CABLE)) {
            plugin.closeContext(plugin.openContext(1, NetPlugin.TRAFFIC_CLASS_UNDEFINED));

            assertThat(log.lines())
                    .filteredOn(line -> line.contains("192.0.2.1"))
                    .singleElement()
                    .asString()
                    .startsWith("WARN eth1 192.0.2.1/24 (TCP) is left out until it can be used: ");
            assertThat(log.lines()).anyMatch(line -> line.contains("communicator 0x1 uses [eth0 127.3.1.1/24"));
        }
    }

    @Test
    void itIsUsedOnceItIsBack() {
        LocalLink back = link(1, "127.3.2.1/24");
        try (CapturedLog log = new CapturedLog();
                SoftwareVerbs software = verbs(GONE, CABLE);
                RoutedNetPlugin _ = open(AUTOMATIC, software, List.of(back), GONE, CABLE)) {
            Await.until(
                    () -> "a line of the link among " + log.lines(),
                    Await.DEADLINE,
                    () -> log.lines().stream().anyMatch(line -> line.startsWith("INFO new link eth1 127.3.2.1")));
        }
    }

    @Test
    void theLastOneIsMissed() {
        try (SoftwareVerbs software = verbs(GONE)) {
            assertThatThrownBy(() -> open(AUTOMATIC, software, List.of(), GONE))
                    .isInstanceOf(HandshakeException.class)
                    .hasMessageContaining("192.0.2.1");
        }
    }

    @Test
    void oneThatAFileNamesIsMissed() {
        try (SoftwareVerbs software = verbs(GONE, CABLE)) {
            assertThatThrownBy(() -> open(listed(CABLE, GONE), software, List.of(), CABLE, GONE))
                    .isInstanceOf(HandshakeException.class)
                    .hasMessageContaining("192.0.2.1");
        }
    }

    private static RoutedNetPlugin open(
            PluginConfig config, SoftwareVerbs software, List<LocalLink> back, LocalLink... links) {
        LinkSearch search = known -> back.stream()
                .filter(link -> !known.contains(link))
                .peek(link -> software.put(device(link)))
                .toList();
        DiscoveredLinks discovered = new DiscoveredLinks(List.of(links), Map.of(), List.of());
        HostNetwork host = new HostNetwork(
                "host", 4096, discovered, Map.of(LinkKind.SOFTWARE, software), _ -> Optional.empty(), search);
        VisibleState visible = new VisibleState(RequestTable.unseen(LaneVerbs.FUNCTIONS), Metrics.unshared());
        return RoutedNetPlugin.open(new PluginSetup(config, host, visible));
    }

    private static PluginConfig listed(LocalLink... links) {
        Source line = Source.DEFAULT;
        List<NicConfig> nics = List.of(links).stream()
                .map(link -> new NicConfig(Optional.empty(), Optional.of(link.address()), OptionalInt.empty(), line))
                .toList();
        NodeConfig node = new NodeConfig("a", 0, nics, line);
        return new PluginConfig(
                Optional.empty(),
                1,
                SettingValues.DEFAULTS.with(Settings.LINKS, LinkPolicy.SOFTWARE, line),
                Optional.of(new ClusterConfig(List.of(node), List.of(Map.of()))),
                Optional.of(new Setting<>(node, line)),
                Optional.empty(),
                List.of());
    }

    private static SoftwareVerbs verbs(LocalLink... links) {
        return new SoftwareVerbs(
                List.of(links).stream().map(VanishedLinksTest::device).toList());
    }

    private static LocalLink link(int rank, String address) {
        InterfaceAddress at = InterfaceAddress.parse(address);
        String name = "eth" + rank;
        return new LocalLink(
                name, LinkKind.SOFTWARE, name, 1, at, 0, Gid.of(at.address()), 10_000, "eth" + rank, 0, rank);
    }

    private static SoftwareDevice device(LocalLink link) {
        return new SoftwareDevice(
                link.deviceName(), link.bindAddress(), link.address().prefixLength(), link.speedMbps(), 0);
    }
}
