package trigon.routing;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import trigon.config.InterfaceAddress;
import trigon.config.QueuePairConfig;
import trigon.verbs.GidEntry;
import trigon.verbs.LinkLayer;
import trigon.verbs.PortState;

/**
 * Finds the IP addresses that RDMA ports serve, and the GID for each: by address and type, for positions in the table
 * differ between machines and change with every address that comes and goes.
 */
final class GidSelector {

    private final QueuePairConfig config;
    private final HostInterfaces interfaces;

    GidSelector(QueuePairConfig config, HostInterfaces interfaces) {
        this.config = config;
        this.interfaces = interfaces;
    }

    /**
     * The addresses of a port, by address.
     *
     * @param leftOut gets a line for what is not used
     */
    List<PortAddress> addresses(RdmaPort port, List<String> leftOut) {
        Optional<String> unusable = unusable(port);
        if (unusable.isPresent()) {
            leftOut.add(port.label() + ": " + unusable.get());
            return List.of();
        }
        List<PortAddress> found = new ArrayList<>();
        Set<InetAddress> seen = new HashSet<>();
        for (GidEntry entry : entries(port, leftOut)) {
            for (PortAddress address : addresses(port, entry, leftOut)) {
                if (seen.add(address.address().address())) {
                    found.add(address);
                }
            }
        }
        if (found.isEmpty()) {
            leftOut.add(port.label() + ": no usable IP address; its GIDs are " + describe(port.gidTable()));
        }
        found.sort(Comparator.comparing(PortAddress::address));
        return found;
    }

    /**
     * The port at an address that the user says it has. Serves InfiniBand, where the GID table does not tell the
     * interface: the address has to exist then.
     */
    Optional<PortAddress> addressSaidToBe(RdmaPort port, InterfaceAddress address) {
        if (port.attributes().linkLayer() != LinkLayer.INFINIBAND
                || unusable(port).isPresent()) {
            return Optional.empty();
        }
        return entries(port, new ArrayList<>()).stream()
                .findFirst()
                .flatMap(entry -> interfaces
                        .withAddress(address.address())
                        .filter(HostInterface::up)
                        .map(on -> new PortAddress(port, entry, on, address)));
    }

    private Optional<String> unusable(RdmaPort port) {
        PortState state = port.attributes().state();
        if (state != PortState.ACTIVE) {
            return Optional.of("the port is " + state + ", not ACTIVE");
        }
        OptionalInt only = config.port();
        if (only.isPresent() && only.getAsInt() != port.port()) {
            return Optional.of("port " + port.port() + " is not queuePair.port " + only.getAsInt());
        }
        return Optional.empty();
    }

    /** The entries that may be used, by index: for each address the first one counts. */
    private List<GidEntry> entries(RdmaPort port, List<String> leftOut) {
        List<GidEntry> table = port.gidTable().stream()
                .filter(entry -> !entry.gid().isZero())
                .sorted(Comparator.comparingInt(GidEntry::index))
                .toList();
        if (config.gidIndex().isPresent()) {
            int forced = config.gidIndex().getAsInt();
            List<GidEntry> entries =
                    table.stream().filter(entry -> entry.index() == forced).toList();
            if (entries.isEmpty()) {
                leftOut.add("%s: its GID table has no entry %d, which queuePair.gidIndex forces"
                        .formatted(port.label(), forced));
            }
            return entries;
        }
        return switch (port.attributes().linkLayer()) {
            case ETHERNET ->
                table.stream()
                        .filter(entry -> entry.type() == GidEntry.Type.ROCE_V2)
                        .toList();
            case INFINIBAND ->
                table.stream()
                        .filter(entry -> entry.type() == GidEntry.Type.INFINIBAND)
                        .limit(1)
                        .toList();
            case TCP -> List.of();
        };
    }

    private List<PortAddress> addresses(RdmaPort port, GidEntry entry, List<String> leftOut) {
        Optional<HostInterface> behind = interfaces.withIndex(entry.interfaceIndex());
        if (port.attributes().linkLayer() == LinkLayer.ETHERNET) {
            Optional<PortAddress> byGid = entry.gid()
                    .address()
                    .filter(GidSelector::isUsable)
                    .flatMap(address -> owner(behind, address)
                            .map(on -> new PortAddress(
                                    port,
                                    entry,
                                    on,
                                    HostInterfaces.addressOf(on, address).orElseThrow())));
            if (byGid.isPresent()) {
                return upOnly(byGid.get(), leftOut);
            }
            if (config.gidIndex().isEmpty()) {
                leftOut.add("%s: GID %d (%s) is %s"
                        .formatted(
                                port.label(),
                                entry.index(),
                                entry.gid(),
                                entry.gid()
                                                .address()
                                                .filter(GidSelector::isUsable)
                                                .isPresent()
                                        ? "no interface's address"
                                        : "link-local, or no host's address"));
                return List.of();
            }
        }
        // a GID that is no IP address of its own: InfiniBand's, or a link-local one that is forced
        if (behind.isEmpty()) {
            leftOut.add(("%s: the network interface behind GID %d is not known; name the device together with its"
                            + " address in the configuration file")
                    .formatted(port.label(), entry.index()));
            return List.of();
        }
        return behind.get().addresses().stream()
                .filter(address -> isUsable(address.address()))
                .flatMap(address -> upOnly(new PortAddress(port, entry, behind.get(), address), leftOut).stream())
                .toList();
    }

    /** The interface that has the address: the one behind the GID if it does. */
    private Optional<HostInterface> owner(Optional<HostInterface> behind, InetAddress address) {
        return behind.filter(on -> HostInterfaces.addressOf(on, address).isPresent())
                .or(() -> interfaces.withAddress(address))
                .filter(on -> HostInterfaces.addressOf(on, address).isPresent());
    }

    private static List<PortAddress> upOnly(PortAddress address, List<String> leftOut) {
        if (address.on().up()) {
            return List.of(address);
        }
        leftOut.add("%s: its interface %s is down"
                .formatted(address.port().label(), address.on().name()));
        return List.of();
    }

    /** Whether peers can tell by it which link is meant: link-local subnets are on every link. */
    static boolean isUsable(InetAddress address) {
        return !(address.isAnyLocalAddress()
                || address.isMulticastAddress()
                || (address instanceof Inet6Address && address.isLinkLocalAddress()));
    }

    private static String describe(List<GidEntry> table) {
        return table.isEmpty()
                ? "none"
                : String.join(
                        ", ",
                        table.stream()
                                .map(entry -> "%d %s %s".formatted(entry.index(), entry.gid(), entry.type()))
                                .toList());
    }
}
