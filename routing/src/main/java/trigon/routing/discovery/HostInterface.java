package trigon.routing.discovery;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.List;
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
 */
public record HostInterface(
        String name,
        int index,
        boolean up,
        boolean loopback,
        List<InterfaceAddress> addresses,
        int speedMbps,
        LinkUse use) {

    public HostInterface {
        addresses = List.copyOf(addresses);
    }

    /** An interface for data, {@link LinkUse#DATA}. */
    public HostInterface(
            String name, int index, boolean up, boolean loopback, List<InterfaceAddress> addresses, int speedMbps) {
        this(name, index, up, loopback, addresses, speedMbps, LinkUse.DATA);
    }

    /** The same as NCCL's bootstrap network, unless it is a last resort. */
    HostInterface forBootstrap() {
        return use == LinkUse.DATA
                ? new HostInterface(name, index, up, loopback, addresses, speedMbps, LinkUse.BOOTSTRAP)
                : this;
    }

    /** Whether peers can tell by it which link is meant: link-local subnets are on every link. */
    static boolean isUsable(InetAddress address) {
        return !(address.isAnyLocalAddress()
                || address.isMulticastAddress()
                || (address instanceof Inet6Address && address.isLinkLocalAddress()));
    }

    /** The addresses by which peers can tell it, or else its link-local one; in order. */
    List<InterfaceAddress> usableAddresses() {
        List<InterfaceAddress> routable = addresses.stream()
                .filter(address -> isUsable(address.address()))
                .sorted()
                .toList();
        return routable.isEmpty()
                ? addresses.stream()
                        .filter(InterfaceAddress::isLinkLocal)
                        .sorted()
                        .limit(1)
                        .toList()
                : routable;
    }

    /** Its link-local address, if it has another usable one as well. */
    List<InterfaceAddress> spareAddress() {
        return isLinkLocalOnly()
                ? List.of()
                : addresses.stream()
                        .filter(InterfaceAddress::isLinkLocal)
                        .sorted()
                        .limit(1)
                        .toList();
    }

    /** Whether each has an address in the other's subnet, so that the kernel sends to both subnets over one of them. */
    boolean sharesSubnet(HostInterface other) {
        return usableAddresses().stream()
                .filter(one -> !one.isLinkLocal())
                .anyMatch(one -> other.usableAddresses().stream()
                        .anyMatch(two -> one.contains(two.address()) && two.contains(one.address())));
    }

    /** Whether it can be used, but by its link-local address only. */
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
}
