package trigon.routing.discovery;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;
import trigon.routing.LinkUse;
import trigon.system.InterfaceAddress;

/**
 * Snapshot of a network interface.
 *
 * @param name for example {@code eth0}
 * @param index the kernel's number, from 1
 * @param up whether it can carry data
 * @param loopback whether it is the loopback interface
 * @param addresses its IP addresses
 * @param speedMbps rate of the link in Mbit/s; 0 if the kernel does not tell it
 * @param use what it is for
 * @param states of its IPv6 addresses that are not in the usual state; those that cannot be used are not among its
 *     addresses
 */
public record HostInterface(
        String name,
        int index,
        boolean up,
        boolean loopback,
        List<InterfaceAddress> addresses,
        int speedMbps,
        LinkUse use,
        Map<InterfaceAddress, AddressState> states) {

    public HostInterface {
        addresses = List.copyOf(addresses);
        states = Map.copyOf(states);
    }

    /** An interface for data, {@link LinkUse#DATA}. */
    public HostInterface(
            String name, int index, boolean up, boolean loopback, List<InterfaceAddress> addresses, int speedMbps) {
        this(name, index, up, loopback, addresses, speedMbps, LinkUse.DATA, Map.of());
    }

    /** The same as NCCL's bootstrap network, unless it is a last resort. */
    HostInterface forBootstrap() {
        return use == LinkUse.DATA
                ? new HostInterface(name, index, up, loopback, addresses, speedMbps, LinkUse.BOOTSTRAP, states)
                : this;
    }

    /** Returns whether peers can tell by it which link is meant: link-local subnets are on every link. */
    static boolean isUsable(InetAddress address) {
        return !(address.isAnyLocalAddress()
                || address.isMulticastAddress()
                || (address instanceof Inet6Address && address.isLinkLocalAddress()));
    }

    /** The addresses by which peers can tell it, or else its link-local one; in order, deprecated ones last. */
    List<InterfaceAddress> usableAddresses() {
        List<InterfaceAddress> routable = addresses.stream()
                .filter(address -> isUsable(address.address()))
                .sorted(Comparator.comparing(this::isDeprecated).thenComparing(Comparator.naturalOrder()))
                .toList();
        return routable.isEmpty() ? linkLocalAddress() : routable;
    }

    private List<InterfaceAddress> linkLocalAddress() {
        return addresses.stream()
                .filter(InterfaceAddress::isLinkLocal)
                .sorted()
                .limit(1)
                .toList();
    }

    /**
     * The addresses that name its links: its usable addresses, and after them its link-local one. Where a node has
     * several interfaces in one subnet, only link-local addresses distinguish its cables, at both ends; and this end
     * cannot see the other's interfaces.
     */
    List<InterfaceAddress> linkAddresses() {
        return Stream.concat(usableAddresses().stream(), linkLocalAddress().stream())
                .distinct()
                .toList();
    }

    /** Returns whether the kernel takes this address for new connections only where it has no other one. */
    boolean isDeprecated(InterfaceAddress address) {
        return states.get(address) == AddressState.DEPRECATED;
    }

    /** The use of a link at one of its addresses. */
    LinkUse use(InterfaceAddress address) {
        return isDeprecated(address) ? LinkUse.DEPRECATED : use;
    }

    /** Its addresses that the kernel does not let anybody use, with the reasons; in order. */
    SortedMap<InterfaceAddress, AddressState> unready() {
        SortedMap<InterfaceAddress, AddressState> unready = new TreeMap<>(states);
        unready.values().removeIf(AddressState.DEPRECATED::equals);
        return unready;
    }

    /** Returns whether it can be used, but by its link-local address only. */
    boolean isLinkLocalOnly() {
        return usableAddresses().stream().anyMatch(InterfaceAddress::isLinkLocal);
    }

    /** For example {@code eth0 10.0.12.1/24 fd00::1/64} or {@code eth1 (down)}. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder(name);
        addresses.forEach(address -> text.append(' ').append(address));
        return text.append(up ? "" : " (down)").toString();
    }

    /** State of an IPv6 address, if it is not an ordinary one; its text is for the user. */
    public enum AddressState {
        /** Another machine has the address. */
        FAILED("another machine on this link has it, so the kernel does not use it (dadfailed); remove it here or"
                + " there"),

        /** The kernel still asks whether another machine has the address: a second or two, once there is a carrier. */
        TENTATIVE("the kernel still checks that no other machine has it (tentative); it is used once that is over"),

        /** The kernel prefers any other address for new connections. */
        DEPRECATED("its preferred lifetime is over (deprecated), so it is used last");

        private final String words;

        AddressState(String words) {
            this.words = words;
        }

        /** The state alone, for a table. */
        public String word() {
            return name().toLowerCase(Locale.ROOT);
        }

        @Override
        public String toString() {
            return words;
        }
    }
}
