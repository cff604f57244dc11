package trigon.routing.discovery;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import trigon.config.PluginConfig;
import trigon.config.cluster.ClusterConfig;
import trigon.config.cluster.NicConfig;
import trigon.config.cluster.NicReference;
import trigon.config.cluster.NodeConfig;
import trigon.config.setting.ConfigException;
import trigon.config.setting.LinkPolicy;
import trigon.routing.DiscoveredLinks;
import trigon.routing.DiscoveredLinks.NicOverride;
import trigon.routing.LeftOut;
import trigon.routing.LocalLink;

/** Finds this machine's links: those that the configuration file lists, or all that make sense. */
public final class LinkDiscovery {

    private LinkDiscovery() {}

    /**
     * Finds the links.
     *
     * @param ports all ports of all RDMA devices, in any order; may be empty if {@code links} is software
     * @param interfaces all network interfaces
     * @return the links; none if the machine has no usable interface
     * @throws ConfigException if the file lists a NIC that does not exist or cannot be used, or if RDMA is required and
     *     there is none
     */
    public static DiscoveredLinks discover(PluginConfig config, List<RdmaPort> ports, HostInterfaces interfaces) {
        LinkPolicy policy = config.links().value();
        GidSelector gids = new GidSelector(config.queuePair(), interfaces);
        List<LeftOut> leftOut = new ArrayList<>(unready(interfaces));
        List<LocalLink> links = config.thisNode()
                .map(node -> new ConfiguredLinks(policy, gids, interfaces, ports, leftOut, nodes(config)).find(node))
                .orElseGet(() -> new AutomaticLinks(policy, gids, interfaces, leftOut).find(ports));
        if (links.isEmpty() && policy == LinkPolicy.RDMA) {
            throw new ConfigException(
                    ("links is %s, but there is no RDMA link on this machine: %s. Bring an RDMA port with an IP address"
                                    + " up, or allow the software device with links auto")
                            .formatted(
                                    config.links(),
                                    leftOut.isEmpty() ? "no RDMA device is known" : LeftOut.joined(leftOut)));
        }
        return new DiscoveredLinks(links, overrides(config, links, interfaces), leftOut);
    }

    private static List<LeftOut> unready(HostInterfaces interfaces) {
        List<LeftOut> unready = new ArrayList<>();
        for (HostInterface each : interfaces.interfaces()) {
            each.unready()
                    .forEach((address, state) -> unready.add(
                            new LeftOut(each.name(), LeftOut.Cause.addressNotReady(address, state.toString()))));
        }
        return unready;
    }

    private static List<NodeConfig> nodes(PluginConfig config) {
        return config.cluster().map(ClusterConfig::nodes).orElse(List.of());
    }

    private static Map<Integer, NicOverride> overrides(
            PluginConfig config, List<LocalLink> links, HostInterfaces interfaces) {
        Map<Integer, NicOverride> overrides = new HashMap<>();
        config.nicsForPeers().forEach((peer, reference) -> {
            Set<InetAddress> addresses = addresses(reference, config.thisNode().orElseThrow(), links, interfaces);
            if (addresses.isEmpty()) {
                throw new ConfigException("%s: %s, prescribed for a peer, is none of this node's NICs; they are %s"
                        .formatted(
                                reference.source(),
                                reference,
                                links.stream()
                                        .map(link -> link + " on " + link.interfaceName())
                                        .collect(Collectors.joining(", "))));
            }
            overrides.put(peer, new NicOverride(reference, addresses));
        });
        return overrides;
    }

    private static Set<InetAddress> addresses(
            NicReference reference, NodeConfig node, List<LocalLink> links, HostInterfaces interfaces) {
        Set<InetAddress> addresses = new LinkedHashSet<>();
        for (LocalLink link : links) {
            boolean meant = switch (reference) {
                case NicReference.ByAddress byAddress ->
                    link.address().address().equals(byAddress.address());
                case NicReference.ByName byName ->
                    link.deviceName().equals(byName.name())
                            || link.interfaceName().equals(interfaces.nameOf(byName.name()))
                            || listedAs(node.nics().get(link.rank()), byName.name());
            };
            if (meant) {
                addresses.add(link.address().address());
            }
        }
        return addresses;
    }

    /** A software link's device has a name of its own; the user knows the NIC by the one in the file. */
    private static boolean listedAs(NicConfig nic, String name) {
        return nic.device().filter(name::equals).isPresent();
    }
}
