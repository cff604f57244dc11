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

    /** Why something is not used; its text is for the user. */
    public sealed interface Cause {

        /** Its weight for readers of the log. */
        default Weight weight() {
            return Weight.NOT_USED;
        }

        /** Returns whether it would be used, or used differently, if it were up. */
        default boolean isDown() {
            return switch (this) {
                case PortNotActive _, PortInterfaceDown _, InterfaceDown _, DownAtInit _, NotOpened _ -> true;
                default -> false;
            };
        }

        /** The RDMA device cannot be opened or asked. */
        record DeviceUnusable(String error) implements Cause {
            @Override
            public String toString() {
                return error;
            }
        }

        /** The RDMA port is in another state than {@link PortState#ACTIVE}. */
        record PortNotActive(PortState state) implements Cause {
            @Override
            public String toString() {
                return "the port is " + state + ", not ACTIVE";
            }
        }

        /** The settings ask for another port of every device. */
        record OtherPortConfigured(int port, int configured) implements Cause {
            @Override
            public String toString() {
                return "port " + port + " is not queuePair.port " + configured;
            }
        }

        /** The settings ask for an entry that the port's GID table does not have. */
        record NoSuchGid(int configured) implements Cause {
            @Override
            public String toString() {
                return "its GID table has no entry " + configured + ", which queuePair.gidIndex forces";
            }
        }

        /** No entry of the port's GID table leads to an IP address that can be used. */
        record NoAddressOfPort(List<GidEntry> gidTable) implements Cause {
            public NoAddressOfPort {
                gidTable = List.copyOf(gidTable);
            }

            @Override
            public String toString() {
                String gids = gidTable.stream()
                        .map(entry -> "%d %s %s".formatted(entry.index(), entry.gid(), entry.type()))
                        .collect(Collectors.joining(", "));
                return "no usable IP address; its GIDs are " + (gids.isEmpty() ? "none" : gids);
            }
        }

        /** The GID is an IP address that no interface has. */
        record ForeignGid(int index, Gid gid) implements Cause {
            @Override
            public String toString() {
                return "GID %d (%s) is no interface's address".formatted(index, gid);
            }
        }

        /** The GID is no address by which peers could tell the link. */
        record LinkLocalGid(int index, Gid gid) implements Cause {
            @Override
            public String toString() {
                return "GID %d (%s) is link-local, or no host's address".formatted(index, gid);
            }
        }

        /** The GID does not tell which network interface is the port's. */
        record NoInterfaceOfGid(int index) implements Cause {
            @Override
            public String toString() {
                return ("the network interface behind GID %d is not known; name the device together with its address"
                                + " in the configuration file")
                        .formatted(index);
            }
        }

        /** The RDMA port's network interface is down. */
        record PortInterfaceDown(String interfaceName) implements Cause {
            @Override
            public String toString() {
                return "its interface " + interfaceName + " is down";
            }
        }

        /** Left out since there are RDMA ports: other interfaces are not used unless the file lists them. */
        record NoRdmaInterface() implements Cause {
            @Override
            public String toString() {
                return "not an RDMA port's interface, and there are such";
            }
        }

        /** The network interface is down. */
        record InterfaceDown() implements Cause {
            @Override
            public String toString() {
                return "down";
            }
        }

        /** The network interface is down, or has no carrier, and has an address: it is used once it is up. */
        record DownAtInit() implements Cause {
            @Override
            public Weight weight() {
                return Weight.SUSPECT;
            }

            @Override
            public String toString() {
                return "down, or without a carrier; it is used once it is up: check the cable, and ip link show";
            }
        }

        /** The link was found, and its address or device was gone when it was to be opened. */
        record NotOpened(String error) implements Cause {
            @Override
            public Weight weight() {
                return Weight.SUSPECT;
            }

            @Override
            public String toString() {
                return "it went away at init (" + error + "); it is used once it is back";
            }
        }

        /** The kernel does not let anybody use this address of the interface. */
        record AddressNotReady(InterfaceAddress address, String reason) implements Cause {
            @Override
            public String toString() {
                return address + " is not used: " + reason;
            }
        }

        /** The network interface has no address by which peers could tell it. */
        record NoAddressOfInterface() implements Cause {
            @Override
            public String toString() {
                return "no IP address that peers can tell it by";
            }
        }

        /** The network interface has nothing but an address that means something on its own link only. */
        record LinkLocalOnly() implements Cause {
            @Override
            public Weight weight() {
                return Weight.USED;
            }

            @Override
            public String toString() {
                return "used by its link-local address, for peers that are on the same cable or switch and have no"
                        + " better way; for others, give both ends addresses in one subnet";
            }
        }

        /** The loopback, or an interface that leads to containers, virtual machines or controllers of this machine. */
        record BetterInterfaces() implements Cause {
            @Override
            public String toString() {
                return "it leads to no other machine (loopback, a bridge without a NIC, a USB gadget), and others may";
            }
        }

        /** The file's NIC carries data over TCP only. */
        record SoftwareOnly(List<LeftOut> ports) implements Cause {
            public SoftwareOnly {
                ports = List.copyOf(ports);
            }

            @Override
            public Weight weight() {
                return Weight.USED;
            }

            @Override
            public String toString() {
                return "carries data over TCP, since no active RDMA port has an address of it" + inBrackets(ports);
            }
        }

        /** The interface's own prefix, where the file says another. */
        record OtherPrefix(InterfaceAddress actual) implements Cause {
            @Override
            public Weight weight() {
                return Weight.SUSPECT;
            }

            @Override
            public String toString() {
                return "the file's prefix is not the interface's, which is " + actual
                        + "; the file's is used, and peers that the kernel cannot reach by it fail later: correct the"
                        + " file or the interface";
            }
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
