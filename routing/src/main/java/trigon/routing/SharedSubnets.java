package trigon.routing;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import trigon.system.InterfaceAddress;
import trigon.system.kernel.KernelRoute;
import trigon.verbs.LinkKind;

/**
 * Interfaces of this machine in one subnet. Unless rules give each source address its own interface, the kernel sends
 * to all of the subnet over one of them: cables on the others carry nothing, or connections over them fail.
 */
public final class SharedSubnets {

    /** Neighbours of an address that the kernel is asked about: some may be this machine's own. */
    private static final int MAX_ASKED = 8;

    private SharedSubnets() {}

    /** Returns whether both are in each other's subnet, on different interfaces, and neither is link-local. */
    private static boolean areInOne(LocalLink one, LocalLink other) {
        return !one.interfaceName().equals(other.interfaceName())
                && !one.isLinkLocal()
                && one.address().contains(other.address().address())
                && other.address().contains(one.address().address());
    }

    /** Returns whether another interface of this machine is in a link's subnet. */
    public static boolean isShared(LocalLink link, List<LocalLink> all) {
        return all.stream().anyMatch(other -> areInOne(link, other));
    }

    /**
     * Returns whether a link-local link is needed for this machine's own sake: its interface has no other address, or
     * one that does not distinguish its cable. Else it is there for peers with such interfaces.
     */
    public static boolean isNeeded(LocalLink linkLocal, List<LocalLink> all) {
        List<LocalLink> beside = all.stream()
                .filter(other -> !other.isLinkLocal() && other.interfaceName().equals(linkLocal.interfaceName()))
                .toList();
        return beside.isEmpty() || beside.stream().anyMatch(other -> isShared(other, all));
    }

    /**
     * A line for each two software links, on interfaces without RDMA, of which the kernel sends not both's packets over
     * their own interface.
     */
    public static List<String> warnings(List<LocalLink> links, RouteLookup kernel) {
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
                if (areInOne(one, other) && !(isByItself(one, kernel) && isByItself(other, kernel))) {
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

    private static boolean isByItself(LocalLink link, RouteLookup kernel) {
        return interfaceToNeighbours(link.address(), kernel).equals(OptionalInt.of(link.interfaceIndex()));
    }

    /**
     * The index of the interface by which the kernel sends from an address to others in its subnet; empty where nobody
     * knows it, or the subnet has no other address.
     */
    public static OptionalInt interfaceToNeighbours(InterfaceAddress address, RouteLookup kernel) {
        return neighbours(address)
                .flatMap(neighbour -> kernel.between(address.address(), neighbour).stream())
                .filter(route -> !route.isLocal())
                .mapToInt(KernelRoute::interfaceIndex)
                .findFirst();
    }

    private static Stream<InetAddress> neighbours(InterfaceAddress address) {
        byte[] own = address.address().getAddress();
        return IntStream.rangeClosed(1, MAX_ASKED)
                .mapToObj(difference -> {
                    byte[] other = own.clone();
                    other[other.length - 1] ^= (byte) difference;
                    return new InterfaceAddress(inetAddress(other), address.prefixLength());
                })
                .filter(other ->
                        address.contains(other.address()) && other.flaw().isEmpty())
                .map(InterfaceAddress::address);
    }

    private static InetAddress inetAddress(byte... bytes) {
        try {
            return InetAddress.getByAddress(bytes);
        } catch (UnknownHostException e) {
            throw new AssertionError("an address with as many bytes as before", e);
        }
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
