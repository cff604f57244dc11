package trigon.routing.discovery;

import java.util.OptionalInt;
import trigon.routing.LinkUse;
import trigon.routing.LocalLink;
import trigon.system.InterfaceAddress;
import trigon.verbs.GidEntry;
import trigon.verbs.LinkKind;

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
