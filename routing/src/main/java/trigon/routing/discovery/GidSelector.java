package trigon.routing.discovery;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import trigon.config.QueuePairConfig;
import trigon.routing.LeftOut;
import trigon.routing.LinkUse;
import trigon.routing.LocalLink;
import trigon.system.InterfaceAddress;
import trigon.verbs.GidEntry;
import trigon.verbs.LinkKind;
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
     * @param leftOut gets what is not used
     */
    List<PortAddress> addresses(RdmaPort port, List<LeftOut> leftOut) {
        Optional<LeftOut.Cause> unusable = unusable(port);
        if (unusable.isPresent()) {
            leftOut.add(new LeftOut(port.label(), unusable.get()));
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
            leftOut.add(new LeftOut(port.label(), LeftOut.Cause.noAddressOfPort(port.gidTable())));
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

    private Optional<LeftOut.Cause> unusable(RdmaPort port) {
        PortState state = port.attributes().state();
        if (state != PortState.ACTIVE) {
            return Optional.of(LeftOut.Cause.portNotActive(state));
        }
        OptionalInt only = config.port();
        if (only.isPresent() && only.getAsInt() != port.port()) {
            return Optional.of(LeftOut.Cause.otherPortConfigured(port.port(), only.getAsInt()));
        }
        return Optional.empty();
    }

    /** The entries that may be used, by index: for each address the first one counts. */
    private List<GidEntry> entries(RdmaPort port, List<LeftOut> leftOut) {
        List<GidEntry> table = port.gidTable().stream()
                .filter(entry -> !entry.gid().isZero())
                .sorted(Comparator.comparingInt(GidEntry::index))
                .toList();
        if (config.gidIndex().isPresent()) {
            int forced = config.gidIndex().getAsInt();
            List<GidEntry> entries =
                    table.stream().filter(entry -> entry.index() == forced).toList();
            if (entries.isEmpty()) {
                leftOut.add(new LeftOut(port.label(), LeftOut.Cause.noSuchGid(forced)));
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

    private List<PortAddress> addresses(RdmaPort port, GidEntry entry, List<LeftOut> leftOut) {
        Optional<HostInterface> behind = interfaces.withIndex(entry.interfaceIndex());
        if (port.attributes().linkLayer() == LinkLayer.ETHERNET) {
            Optional<PortAddress> byGid = entry.gid()
                    .address()
                    .filter(HostInterface::isUsable)
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
                boolean isHostsAddress =
                        entry.gid().address().filter(HostInterface::isUsable).isPresent();
                leftOut.add(new LeftOut(
                        port.label(),
                        isHostsAddress
                                ? LeftOut.Cause.foreignGid(entry.index(), entry.gid())
                                : LeftOut.Cause.linkLocalGid(entry.index(), entry.gid())));
                return List.of();
            }
        }
        // a GID that is no IP address of its own: InfiniBand's, or a link-local one that is forced
        if (behind.isEmpty()) {
            leftOut.add(new LeftOut(port.label(), LeftOut.Cause.noInterfaceOfGid(entry.index())));
            return List.of();
        }
        return behind.get().addresses().stream()
                .filter(address -> HostInterface.isUsable(address.address()))
                .flatMap(address -> upOnly(new PortAddress(port, entry, behind.get(), address), leftOut).stream())
                .toList();
    }

    /** The interface that has the address: the one behind the GID if it does. */
    private Optional<HostInterface> owner(Optional<HostInterface> behind, InetAddress address) {
        return behind.filter(on -> HostInterfaces.addressOf(on, address).isPresent())
                .or(() -> interfaces.withAddress(address))
                .filter(on -> HostInterfaces.addressOf(on, address).isPresent());
    }

    private static List<PortAddress> upOnly(PortAddress address, List<LeftOut> leftOut) {
        if (address.on().up()) {
            return List.of(address);
        }
        leftOut.add(new LeftOut(
                address.port().label(),
                LeftOut.Cause.portInterfaceDown(address.on().name())));
        return List.of();
    }

    /**
     * An IP address that an RDMA port serves.
     *
     * @param gid the entry of its GID table to use
     * @param on the network interface that has the address
     */
    record PortAddress(RdmaPort port, GidEntry gid, HostInterface on, InterfaceAddress address) {

        PortAddress withAddress(InterfaceAddress other) {
            return new PortAddress(port, gid, on, other);
        }

        LocalLink link(int rank, OptionalInt speedMbps) {
            return new LocalLink(
                    port.label(),
                    LinkKind.RDMA,
                    port.deviceName(),
                    port.port(),
                    address,
                    gid.index(),
                    gid.gid(),
                    speedMbps.orElse(port.attributes().speedMbps()),
                    on.name(),
                    on.index(),
                    rank,
                    on.use(address) == LinkUse.BOOTSTRAP ? LinkUse.DATA : on.use(address));
        }
    }
}
