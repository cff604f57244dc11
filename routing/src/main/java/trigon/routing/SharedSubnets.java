package trigon.routing;

import java.util.ArrayList;
import java.util.List;
import trigon.verbs.LinkKind;

/**
 * Interfaces of this machine that are in one subnet: the kernel sends to all of it over one of them, so cables on the
 * others carry nothing, or connections over them fail.
 */
public final class SharedSubnets {

    private SharedSubnets() {}

    /** Whether both are in each other's subnet, on different interfaces, and neither is link-local. */
    private static boolean areInOne(LocalLink one, LocalLink other) {
        return !one.interfaceName().equals(other.interfaceName())
                && !one.isLinkLocal()
                && one.address().contains(other.address().address())
                && other.address().contains(one.address().address());
    }

    /** Whether another interface of this machine is in a link's subnet. */
    public static boolean isShared(LocalLink link, List<LocalLink> all) {
        return all.stream().anyMatch(other -> areInOne(link, other));
    }

    /**
     * Whether a link-local link is needed for this machine's own sake: its interface has no other address, or one that
     * does not distinguish its cable. Else it is there for peers with such interfaces.
     */
    public static boolean isNeeded(LocalLink linkLocal, List<LocalLink> all) {
        List<LocalLink> beside = all.stream()
                .filter(other -> !other.isLinkLocal() && other.interfaceName().equals(linkLocal.interfaceName()))
                .toList();
        return beside.isEmpty() || beside.stream().anyMatch(other -> isShared(other, all));
    }

    /** A line for each two software links, on interfaces without RDMA, that the kernel does not tell apart. */
    public static List<String> warnings(List<LocalLink> links) {
        List<LocalLink> software = links.stream()
                .filter(link -> link.kind() == LinkKind.SOFTWARE)
                .filter(link -> links.stream()
                        .noneMatch(other -> other.kind() == LinkKind.RDMA
                                && other.interfaceName().equals(link.interfaceName())))
                .toList();
        List<String> warnings = new ArrayList<>();
        for (int i = 0; i < software.size(); i++) {
            for (LocalLink other : software.subList(i + 1, software.size())) {
                LocalLink one = software.get(i);
                if (areInOne(one, other)) {
                    warnings.add(("%s %s and %s %s are in one subnet: the kernel sends over one of them alone%s; give"
                                    + " each cable a subnet of its own, at both ends")
                            .formatted(
                                    one.interfaceName(),
                                    one.address(),
                                    other.interfaceName(),
                                    other.address(),
                                    consequence(software, one, other)));
                }
            }
        }
        return List.copyOf(warnings);
    }

    private static String consequence(List<LocalLink> links, LocalLink one, LocalLink other) {
        return hasLinkLocal(links, one) && hasLinkLocal(links, other)
                ? ", so their link-local IPv6 addresses go first, to peers that have them as well"
                : ", and connections over the other may fail: there are no link-local IPv6 addresses to use"
                        + " instead (sysctl net.ipv6.conf.NAME.disable_ipv6)";
    }

    private static boolean hasLinkLocal(List<LocalLink> links, LocalLink beside) {
        return links.stream()
                .anyMatch(link -> link.isLinkLocal() && link.interfaceName().equals(beside.interfaceName()));
    }
}
