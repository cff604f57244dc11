package trigon.routing;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.ToIntFunction;
import trigon.config.InterfaceAddress;
import trigon.verbs.LinkKind;

/**
 * The links of this machine.
 *
 * @param links by rank
 * @param overrides the NICs that the configuration file prescribes, by the peer's node index
 * @param leftOut what was found and is not used, and why
 */
public record DiscoveredLinks(List<LocalLink> links, Map<Integer, NicOverride> overrides, List<LeftOut> leftOut) {

    public DiscoveredLinks {
        links = links.stream().sorted(LocalLink.BY_RANK).toList();
        overrides = Map.copyOf(overrides);
        leftOut = List.copyOf(leftOut);
    }

    /**
     * The links as peers are told of them: one for each address.
     *
     * @param tcpPort port of the listener at an address
     */
    public List<PeerLink> advertised(ToIntFunction<InterfaceAddress> tcpPort) {
        Map<InterfaceAddress, Set<LinkKind>> kinds = new TreeMap<>();
        for (LocalLink link : links) {
            kinds.computeIfAbsent(link.address(), _ -> EnumSet.noneOf(LinkKind.class))
                    .add(link.kind());
        }
        List<PeerLink> advertised = new ArrayList<>();
        kinds.forEach((address, served) -> advertised.add(
                new PeerLink(address.address(), address.prefixLength(), tcpPort.applyAsInt(address), served)));
        return List.copyOf(advertised);
    }
}
