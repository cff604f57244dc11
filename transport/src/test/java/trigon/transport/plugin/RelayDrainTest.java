package trigon.transport.plugin;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import trigon.config.PluginConfig;
import trigon.config.setting.LinkPolicy;
import trigon.config.setting.Setting;
import trigon.config.setting.Source;
import trigon.nccl.NetPlugin;
import trigon.routing.DiscoveredLinks;
import trigon.routing.LinkSearch;
import trigon.routing.LocalLink;
import trigon.routing.Path;
import trigon.routing.PeerLink;
import trigon.routing.Relays;
import trigon.software.SoftwareDevice;
import trigon.software.device.SoftwareVerbs;
import trigon.stream.dial.Dialer;
import trigon.system.InterfaceAddress;
import trigon.transport.metrics.Metrics;
import trigon.transport.request.RequestTable;
import trigon.transport.testsupport.LaneVerbs;
import trigon.verbs.Gid;
import trigon.verbs.LinkKind;

/** A node that relays for others and whose own communicators end. */
@Timeout(300)
class RelayDrainTest {

    private static final InterfaceAddress ADDRESS = InterfaceAddress.parse("127.3.1.1/24");

    private static final LocalLink LINK = new LocalLink(
            "soft_0", LinkKind.SOFTWARE, "soft_0", 1, ADDRESS, 0, Gid.of(ADDRESS.address()), 10_000, "eth0", 0, 1);

    private final CountingRelays relays = new CountingRelays();

    @Test
    void theLastCommunicatorWaitsForWhatOthersSendThroughThisNode() {
        try (SoftwareVerbs software =
                        new SoftwareVerbs(List.of(new SoftwareDevice("soft_0", LINK.bindAddress(), 24, 10_000, 0)));
                RoutedNetPlugin plugin = plugin(software)) {
            long first = plugin.openContext(1, NetPlugin.TRAFFIC_CLASS_UNDEFINED);
            long second = plugin.openContext(2, NetPlugin.TRAFFIC_CLASS_UNDEFINED);

            plugin.closeContext(first);
            assertThat(relays.drained).isZero();

            plugin.closeContext(second);
            assertThat(relays.drained).isEqualTo(1);
            assertThat(relays.open).as("its own have ended before").isZero();
        }
    }

    private RoutedNetPlugin plugin(SoftwareVerbs software) {
        PluginConfig config = PluginConfig.withoutFile(new Setting<>(LinkPolicy.SOFTWARE, Source.DEFAULT));
        DiscoveredLinks discovered = new DiscoveredLinks(List.of(LINK), Map.of(), List.of());
        HostNetwork host = new HostNetwork(
                "host", 4096, discovered, Map.of(LinkKind.SOFTWARE, software), _ -> Optional.empty(), LinkSearch.NONE);
        VisibleState visible = new VisibleState(RequestTable.unseen(LaneVerbs.FUNCTIONS), Metrics.unshared());
        return RoutedNetPlugin.open(
                new PluginSetup(config, host, visible).with(new RelayAccess(relays, Dialer.DIRECT)));
    }

    /** No ways, and how often it was asked to wait. */
    private static final class CountingRelays implements Relays {

        private int open;
        private int drained;

        @Override
        public List<Path> pathsTo(String peer, List<PeerLink> remotes, long tie) {
            return List.of();
        }

        @Override
        public Duration patience() {
            return Duration.ZERO;
        }

        @Override
        public String report(List<PeerLink> remotes) {
            return "";
        }

        @Override
        public String advice() {
            return "";
        }

        @Override
        public void opened(long communicator) {
            open++;
        }

        @Override
        public void closed(long communicator) {
            open--;
        }

        @Override
        public void drain() {
            drained++;
        }
    }
}
