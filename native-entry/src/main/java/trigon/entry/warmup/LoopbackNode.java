package trigon.entry.warmup;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import trigon.config.PluginConfig;
import trigon.config.setting.LinkPolicy;
import trigon.config.setting.Setting;
import trigon.config.setting.Source;
import trigon.routing.DiscoveredLinks;
import trigon.routing.LinkSearch;
import trigon.routing.LocalLink;
import trigon.routing.discovery.HostInterface;
import trigon.routing.discovery.HostInterfaces;
import trigon.routing.discovery.LinkDiscovery;
import trigon.routing.discovery.RdmaPort;
import trigon.software.MoverSettings;
import trigon.software.SoftwareDevice;
import trigon.software.device.SoftwareVerbs;
import trigon.system.InterfaceAddress;
import trigon.transport.metrics.Metrics;
import trigon.transport.plugin.HostNetwork;
import trigon.transport.plugin.PluginSetup;
import trigon.transport.plugin.RoutedNetPlugin;
import trigon.transport.plugin.VisibleState;
import trigon.transport.request.RequestTable;
import trigon.verbs.DeviceContext;
import trigon.verbs.LinkKind;
import trigon.verbs.VerbsProvider;

/**
 * A plugin on a machine that has nothing but its loopback interface; no file, no environment.
 *
 * @param plugin whose device 0 reaches itself
 * @param verbs its devices
 * @param closeVerbs what is to be done about them after the plugin is closed
 */
public record LoopbackNode(RoutedNetPlugin plugin, VerbsProvider verbs, Runnable closeVerbs) implements WarmUpNode {

    private static final int INDEX = 1;
    private static final int PREFIX = 8;
    private static final int SPEED_MBPS = 10_000;
    private static final HostInterface LOOPBACK = new HostInterface(
            "lo",
            INDEX,
            true,
            true,
            List.of(new InterfaceAddress(InetAddress.ofLiteral("127.0.0.1"), PREFIX)),
            SPEED_MBPS);

    /**
     * On a software device.
     *
     * @param kind how messages go over it: as over software links, or as over RDMA links
     * @param movers as this process's own software devices have them
     * @param requests the process's own
     * @param pageBytes size of the kernel's pages
     */
    public static LoopbackNode ofSoftware(LinkKind kind, MoverSettings movers, RequestTable requests, int pageBytes) {
        DiscoveredLinks discovered = discover(LinkPolicy.SOFTWARE, List.of());
        SoftwareVerbs verbs = new SoftwareVerbs(
                discovered.links().stream().map(LoopbackNode::device).toList(), movers);
        List<LocalLink> links =
                discovered.links().stream().map(link -> of(kind, link)).toList();
        return open(new DiscoveredLinks(links, Map.of(), List.of()), kind, verbs, verbs::close, requests, pageBytes);
    }

    /**
     * On an RDMA device that has the loopback interface's address, as no NIC has: one that stands in for them.
     *
     * @param verbs where to look for it; the caller's
     * @return nothing if there is none
     */
    public static Optional<LoopbackNode> ofRdma(VerbsProvider verbs, RequestTable requests, int pageBytes) {
        List<RdmaPort> ports = new ArrayList<>();
        for (String name : verbs.deviceNames()) {
            try (DeviceContext device = verbs.open(name)) {
                ports.add(new RdmaPort(name, 1, device.queryPort(1), device.gidTable(1)));
            }
        }
        DiscoveredLinks discovered = discover(LinkPolicy.AUTO, ports);
        return discovered.links().stream().anyMatch(link -> link.kind() == LinkKind.RDMA)
                ? Optional.of(open(discovered, LinkKind.RDMA, verbs, () -> {}, requests, pageBytes))
                : Optional.empty();
    }

    private static DiscoveredLinks discover(LinkPolicy policy, List<RdmaPort> ports) {
        return LinkDiscovery.discover(config(policy), ports, new HostInterfaces(List.of(LOOPBACK)));
    }

    private static PluginConfig config(LinkPolicy policy) {
        return PluginConfig.withoutFile(new Setting<>(policy, Source.DEFAULT));
    }

    private static LoopbackNode open(
            DiscoveredLinks discovered,
            LinkKind kind,
            VerbsProvider verbs,
            Runnable closeVerbs,
            RequestTable requests,
            int pageBytes) {
        List<LocalLink> links =
                discovered.links().stream().filter(link -> link.kind() == kind).toList();
        try {
            RoutedNetPlugin plugin = RoutedNetPlugin.open(new PluginSetup(
                    config(LinkPolicy.AUTO),
                    new HostNetwork(
                            "warm-up",
                            pageBytes,
                            new DiscoveredLinks(links, Map.of(), List.of()),
                            Map.of(kind, verbs),
                            _ -> Optional.empty(),
                            LinkSearch.NONE),
                    new VisibleState(requests.unseen(), Metrics.unshared())));
            return new LoopbackNode(plugin, verbs, closeVerbs);
        } catch (RuntimeException e) {
            closeVerbs.run();
            throw e;
        }
    }

    private static SoftwareDevice device(LocalLink link) {
        return new SoftwareDevice(
                link.deviceName(),
                link.address().address(),
                link.address().prefixLength(),
                link.speedMbps(),
                link.interfaceIndex());
    }

    private static LocalLink of(LinkKind kind, LocalLink link) {
        return new LocalLink(
                link.name(),
                kind,
                link.deviceName(),
                link.port(),
                link.address(),
                link.gidIndex(),
                link.gid(),
                link.speedMbps(),
                link.interfaceName(),
                link.interfaceIndex(),
                link.rank());
    }

    @Override
    public void close() {
        plugin.close();
        closeVerbs.run();
    }
}
