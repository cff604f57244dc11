package trigon.routing.hardware;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import trigon.config.PluginConfig;
import trigon.routing.DiscoveredLinks;
import trigon.routing.LocalLink;

/**
 * The links' speeds as the PCIe links allow: a port may be faster than what the NIC is plugged into. Functions that are
 * used and share a PCIe link have equal shares of it. What the user states in the configuration file stays.
 */
public final class LinkSpeeds {

    private final NicHardware hardware;

    /** The speeds of links of this machine. */
    public LinkSpeeds(NicHardware hardware) {
        this.hardware = hardware;
    }

    /** The same links, none faster than its share of its PCIe link. */
    public DiscoveredLinks limit(PluginConfig config, DiscoveredLinks found) {
        Map<LocalLink, Path> functions = new HashMap<>();
        for (LocalLink link : found.links()) {
            hardware.pciFunction(link).ifPresent(function -> functions.put(link, function));
        }
        Map<Path, Set<Path>> sharing = new HashMap<>();
        for (Path function : functions.values()) {
            hardware.pciLink(function)
                    .ifPresent(link -> sharing.computeIfAbsent(link.bridge(), _ -> new HashSet<>())
                            .add(function));
        }
        List<LocalLink> limited = found.links().stream()
                .map(link -> isStated(config, link) ? link : limited(link, functions.get(link), sharing))
                .toList();
        return new DiscoveredLinks(limited, found.overrides(), found.leftOut());
    }

    private static boolean isStated(PluginConfig config, LocalLink link) {
        return config.thisNode()
                .filter(node -> node.nics().get(link.rank()).speedMbps().isPresent())
                .isPresent();
    }

    private LocalLink limited(LocalLink link, @Nullable Path function, Map<Path, Set<Path>> sharing) {
        if (function == null) {
            return link;
        }
        return hardware.pciLink(function)
                .map(pci -> pci.mbps()
                        / sharing.getOrDefault(pci.bridge(), Set.of(function)).size())
                .filter(share -> share < link.speedMbps())
                .map(link::withSpeed)
                .orElse(link);
    }
}
