package trigon.routing;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import trigon.config.cluster.NicReference;
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

    /** Without a link that cannot be opened, for a reason that the error tells. */
    public DiscoveredLinks without(LocalLink link, String error) {
        List<LeftOut> gone = new ArrayList<>(leftOut);
        gone.add(new LeftOut(link.interfaceName(), LeftOut.Cause.notOpened(error)));
        return new DiscoveredLinks(
                links.stream().filter(each -> !each.equals(link)).toList(), overrides, gone);
    }

    /** With these links as well. */
    public DiscoveredLinks with(List<LocalLink> more) {
        List<LocalLink> all = new ArrayList<>(links);
        all.addAll(more);
        return new DiscoveredLinks(all, overrides, leftOut);
    }

    /** Those that are not among the known ones, each under a name of its own. */
    public List<LocalLink> beyond(List<LocalLink> known) {
        Set<String> names = known.stream().map(LocalLink::name).collect(Collectors.toCollection(HashSet::new));
        List<LocalLink> later = new ArrayList<>();
        for (LocalLink link : links) {
            if (known.stream().noneMatch(link::isOfSameAddress)) {
                LocalLink named = link;
                for (int next = 2; link.kind() == LinkKind.SOFTWARE && !names.add(named.name()); next++) {
                    named = link.called(link.name() + "_" + next);
                }
                later.add(named);
            }
        }
        return List.copyOf(later);
    }

    /**
     * The NIC that the configuration file prescribes for a peer, as found on this machine.
     *
     * @param reference the entry of {@code peers}
     * @param addresses the NIC's; only links with one of them are used
     */
    public record NicOverride(NicReference reference, Set<InetAddress> addresses) {

        public NicOverride {
            addresses = Set.copyOf(addresses);
        }

        /** Returns whether a path to that peer may begin with that link. */
        public boolean allows(LocalLink link) {
            return addresses.contains(link.address().address());
        }
    }
}
