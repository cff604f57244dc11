package trigon.routing;

import java.net.InetAddress;
import java.util.Comparator;
import trigon.system.InterfaceAddress;
import trigon.verbs.Gid;
import trigon.verbs.LinkKind;

/**
 * A way out of this machine: one IP address, and one device that serves it. An address that an RDMA device and a
 * software device serve is two links.
 *
 * @param name among the links of this machine, for counters and traces: an RDMA device, with its port from the second
 *     one on, or an interface, with a number from its second address on
 * @param kind what carries the data
 * @param deviceName the RDMA device, or the software device, of which there is one for each address
 * @param port the device's port
 * @param address what peers reach it by, and its subnet
 * @param gidIndex the address's place in the port's GID table
 * @param gid the entry there
 * @param speedMbps rate in Mbit/s; 0 if the kernel does not tell it
 * @param interfaceName the network interface that has the address
 * @param interfaceIndex its index; 0 if unknown
 * @param rank place of its NIC in the user's list, or without one by speed, the fastest first, and then in the order of
 *     RDMA devices' names or interfaces' indices; less is better among equals
 * @param use what its interface is for
 */
public record LocalLink(
        String name,
        LinkKind kind,
        String deviceName,
        int port,
        InterfaceAddress address,
        int gidIndex,
        Gid gid,
        int speedMbps,
        String interfaceName,
        int interfaceIndex,
        int rank,
        LinkUse use) {

    /** Taken for links whose speed the kernel does not tell: 10 Gbit/s, as NCCL does. */
    public static final int ASSUMED_MBPS = 10_000;

    /** By rank; all further criteria only make the order a total one. */
    public static final Comparator<LocalLink> BY_RANK = Comparator.comparingInt(LocalLink::rank)
            .thenComparing(LocalLink::address)
            .thenComparing(LocalLink::kind)
            .thenComparing(LocalLink::deviceName)
            .thenComparingInt(LocalLink::port)
            .thenComparingInt(LocalLink::gidIndex);

    /** A link for data, {@link LinkUse#DATA}. */
    public LocalLink(
            String name,
            LinkKind kind,
            String deviceName,
            int port,
            InterfaceAddress address,
            int gidIndex,
            Gid gid,
            int speedMbps,
            String interfaceName,
            int interfaceIndex,
            int rank) {
        this(
                name,
                kind,
                deviceName,
                port,
                address,
                gidIndex,
                gid,
                speedMbps,
                interfaceName,
                interfaceIndex,
                rank,
                LinkUse.DATA);
    }

    /** Its rate in Mbit/s, or what is assumed where nobody knows it: for shares of the data, not for comparisons. */
    public int assumedMbps() {
        return speedMbps > 0 ? speedMbps : ASSUMED_MBPS;
    }

    /** The Mbit/s that its speed counts when paths are compared; 0 for a last resort, and 1 if it is not known. */
    public int countedMbps() {
        return use.countedMbps(speedMbps);
    }

    /** The same, as paths are compared by it. */
    public Bandwidth bandwidth() {
        return Bandwidth.of(countedMbps());
    }

    /**
     * Returns whether its address leads to the other end of its cable, or to its switch's other ports, and nowhere
     * else.
     */
    public boolean isLinkLocal() {
        return address.isLinkLocal();
    }

    /**
     * The address that sockets are bound to: a link-local address with its interface, since each has one in that
     * subnet.
     */
    public InetAddress bindAddress() {
        return InterfaceAddress.inZone(address.address(), interfaceIndex);
    }

    /** Returns whether the other is one of the same address and kind, and for RDMA of the same device. */
    boolean isOfSameAddress(LocalLink other) {
        return kind == other.kind
                && address.address().equals(other.address.address())
                && (kind == LinkKind.SOFTWARE || (deviceName.equals(other.deviceName) && port == other.port));
    }

    /** The same software link under another name. */
    LocalLink called(String newName) {
        return new LocalLink(
                newName,
                kind,
                newName,
                port,
                address,
                gidIndex,
                gid,
                speedMbps,
                interfaceName,
                interfaceIndex,
                rank,
                use);
    }

    /** The same link at another rate, in Mbit/s. */
    public LocalLink withSpeed(int mbps) {
        return new LocalLink(
                name, kind, deviceName, port, address, gidIndex, gid, mbps, interfaceName, interfaceIndex, rank, use);
    }

    /** For example {@code rxe_ab 10.0.12.1/24 (RDMA)} or {@code eth1 10.0.12.1/24 (TCP)}. */
    @Override
    public String toString() {
        return "%s %s (%s)".formatted(label(), address, word(kind));
    }

    /** The name for people: its RDMA device and port, or the interface of its TCP connections. */
    public String label() {
        return kind == LinkKind.RDMA ? name : interfaceName;
    }

    /** The carrier of its data, and its speed if that is known: for example {@code TCP, 10 Gb/s}. */
    public String carrier() {
        if (speedMbps <= 0) {
            return word(kind);
        }
        return word(kind) + ", " + (speedMbps % 1000 == 0 ? speedMbps / 1000 + " Gb/s" : speedMbps + " Mb/s");
    }

    /** The carrier of the data, as messages name it. */
    public static String word(LinkKind kind) {
        return kind == LinkKind.RDMA ? "RDMA" : "TCP";
    }
}
