package trigon.routing;

import java.util.List;
import java.util.stream.Collectors;
import trigon.system.InterfaceAddress;
import trigon.verbs.Gid;
import trigon.verbs.GidEntry;
import trigon.verbs.PortState;

/**
 * Something found on this machine or listed in the configuration file that is not used, or not as found.
 *
 * @param name of the RDMA device or port, of the network interface, or of the NIC as the file lists it
 * @param cause why
 */
public record LeftOut(String name, Cause cause) {

    /** For example {@code eth0: down}. */
    @Override
    public String toString() {
        return name + ": " + cause;
    }

    /**
     * Why something is not used.
     *
     * @param text for the user
     * @param weight for readers of the log
     * @param isDown it would be used, or used differently, if it were up
     */
    public record Cause(String text, Weight weight, boolean isDown) {

        private static Cause notUsed(String text) {
            return new Cause(text, Weight.NOT_USED, false);
        }

        /** The RDMA device cannot be opened or asked. */
        public static Cause deviceUnusable(String error) {
            return notUsed(error);
        }

        /** The RDMA port is in another state than {@link PortState#ACTIVE}. */
        public static Cause portNotActive(PortState state) {
            return new Cause("the port is " + state + ", not ACTIVE", Weight.NOT_USED, true);
        }

        /** The settings ask for another port of every device. */
        public static Cause otherPortConfigured(int port, int configured) {
            return notUsed("port " + port + " is not queuePair.port " + configured);
        }

        /** The settings ask for an entry that the port's GID table does not have. */
        public static Cause noSuchGid(int configured) {
            return notUsed("its GID table has no entry " + configured + ", which queuePair.gidIndex forces");
        }

        /** No entry of the port's GID table leads to an IP address that can be used. */
        public static Cause noAddressOfPort(List<GidEntry> gidTable) {
            String gids = gidTable.stream()
                    .map(entry -> "%d %s %s".formatted(entry.index(), entry.gid(), entry.type()))
                    .collect(Collectors.joining(", "));
            return notUsed("no usable IP address; its GIDs are " + (gids.isEmpty() ? "none" : gids));
        }

        /** The GID is an IP address that no interface has. */
        public static Cause foreignGid(int index, Gid gid) {
            return notUsed("GID %d (%s) is no interface's address".formatted(index, gid));
        }

        /** The GID is no address by which peers could tell the link. */
        public static Cause linkLocalGid(int index, Gid gid) {
            return notUsed("GID %d (%s) is link-local, or no host's address".formatted(index, gid));
        }

        /** The GID does not tell which network interface is the port's. */
        public static Cause noInterfaceOfGid(int index) {
            return notUsed(
                    ("the network interface behind GID %d is not known; name the device together with its address"
                                    + " in the configuration file")
                            .formatted(index));
        }

        /** The RDMA port's network interface is down. */
        public static Cause portInterfaceDown(String interfaceName) {
            return new Cause("its interface " + interfaceName + " is down", Weight.NOT_USED, true);
        }

        /** Left out since there are RDMA ports: other interfaces are not used unless the file lists them. */
        public static Cause noRdmaInterface() {
            return notUsed("not an RDMA port's interface, and there are such");
        }

        /** The network interface is down. */
        public static Cause interfaceDown() {
            return new Cause("down", Weight.NOT_USED, true);
        }

        /** The network interface is down, or has no carrier, and has an address: it is used once it is up. */
        public static Cause downAtInit() {
            return new Cause(
                    "down, or without a carrier; it is used once it is up: check the cable, and ip link show",
                    Weight.SUSPECT,
                    true);
        }

        /** The link was found, and its address or device was gone when it was to be opened. */
        public static Cause notOpened(String error) {
            return new Cause("it went away at init (" + error + "); it is used once it is back", Weight.SUSPECT, true);
        }

        /** The kernel does not let anybody use this address of the interface. */
        public static Cause addressNotReady(InterfaceAddress address, String reason) {
            return notUsed(address + " is not used: " + reason);
        }

        /** The network interface has no address by which peers could tell it. */
        public static Cause noAddressOfInterface() {
            return notUsed("no IP address that peers can tell it by");
        }

        /** The network interface has nothing but an address that means something on its own link only. */
        public static Cause linkLocalOnly() {
            return new Cause(
                    "used by its link-local address, for peers that are on the same cable or switch and have no"
                            + " better way; for others, give both ends addresses in one subnet",
                    Weight.USED,
                    false);
        }

        /** The loopback, or an interface that leads to containers, virtual machines or controllers of this machine. */
        public static Cause betterInterfaces() {
            return notUsed(
                    "it leads to no other machine (loopback, a bridge without a NIC, a USB gadget), and others may");
        }

        /** The file's NIC carries data over TCP only. */
        public static Cause softwareOnly(List<LeftOut> ports) {
            return new Cause(
                    "carries data over TCP, since no active RDMA port has an address of it" + inBrackets(ports),
                    Weight.USED,
                    false);
        }

        /** The interface's own prefix, where the file says another. */
        public static Cause otherPrefix(InterfaceAddress actual) {
            return new Cause(
                    "the file's prefix is not the interface's, which is " + actual
                            + "; the file's is used, and peers that the kernel cannot reach by it fail later: correct"
                            + " the file or the interface",
                    Weight.SUSPECT,
                    false);
        }

        @Override
        public String toString() {
            return text;
        }
    }

    /** The weight of something left out. */
    public enum Weight {
        /** It is not used, as it should be. */
        NOT_USED,
        /** It is used, but not as well as it might be. */
        USED,
        /** It is used, and probably a mistake. */
        SUSPECT
    }

    /** As the end of a sentence; empty if there is none. */
    public static String inBrackets(List<LeftOut> ports) {
        return ports.isEmpty() ? "" : " (" + joined(ports) + ")";
    }

    public static String joined(List<LeftOut> parts) {
        return parts.stream().map(LeftOut::toString).collect(Collectors.joining("; "));
    }
}
