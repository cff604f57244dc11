package trigon.transport.plugin;

import java.util.Map;
import trigon.routing.DiscoveredLinks;
import trigon.routing.LinkSearch;
import trigon.routing.RouteLookup;
import trigon.verbs.LinkKind;
import trigon.verbs.VerbsProvider;

/**
 * The network of the machine that a plugin runs on.
 *
 * @param hostName what peers see in their logs where the settings name no node
 * @param pageBytes size of the kernel's pages
 * @param discovered this node's links; at least one
 * @param devices what is behind them
 * @param kernel the kernel's routing table
 * @param search finds links that come later
 */
public record HostNetwork(
        String hostName,
        int pageBytes,
        DiscoveredLinks discovered,
        HostDevices devices,
        RouteLookup kernel,
        LinkSearch search) {

    /** One whose GPUs have no driver. */
    public HostNetwork(
            String hostName,
            int pageBytes,
            DiscoveredLinks discovered,
            Map<LinkKind, VerbsProvider> providers,
            RouteLookup kernel,
            LinkSearch search) {
        this(hostName, pageBytes, discovered, new HostDevices(providers), kernel, search);
    }
}
