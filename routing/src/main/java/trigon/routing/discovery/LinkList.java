package trigon.routing.discovery;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import trigon.routing.LocalLink;
import trigon.routing.discovery.GidSelector.PortAddress;
import trigon.system.InterfaceAddress;
import trigon.verbs.Gid;
import trigon.verbs.LinkKind;

/** Collects links: each once, and every software link with a device name of its own. */
final class LinkList {

    /** The software device has one port with one GID. */
    private static final int SOFTWARE_PORT = 1;

    private static final int SOFTWARE_GID_INDEX = 0;

    private final List<LocalLink> links = new ArrayList<>();

    void addRdma(PortAddress address, int rank) {
        addRdma(address, rank, OptionalInt.empty());
    }

    /** With the speed that the user has said, if he has. */
    void addRdma(PortAddress address, int rank, OptionalInt speedMbps) {
        LocalLink link = address.link(rank, speedMbps);
        boolean known = links.stream()
                .anyMatch(other -> other.kind() == LinkKind.RDMA
                        && other.deviceName().equals(link.deviceName())
                        && other.port() == link.port()
                        && other.address().address().equals(link.address().address()));
        if (!known) {
            links.add(link);
        }
    }

    void addSoftware(HostInterface on, InterfaceAddress address, int rank) {
        addSoftware(on, address, rank, OptionalInt.empty());
    }

    /** With the speed that the user has said, if he has. */
    void addSoftware(HostInterface on, InterfaceAddress address, int rank, OptionalInt speedMbps) {
        boolean known = links.stream()
                .anyMatch(other -> other.kind() == LinkKind.SOFTWARE
                        && other.address().address().equals(address.address()));
        if (known) {
            return;
        }
        String name = softwareName(on);
        links.add(new LocalLink(
                name,
                LinkKind.SOFTWARE,
                name,
                SOFTWARE_PORT,
                address,
                SOFTWARE_GID_INDEX,
                Gid.of(address.address()),
                speedMbps.orElse(on.speedMbps()),
                on.name(),
                on.index(),
                rank,
                on.use(address)));
    }

    private String softwareName(HostInterface on) {
        String name = on.name();
        for (int next = 2; isTaken(name); next++) {
            name = on.name() + "_" + next;
        }
        return name;
    }

    private boolean isTaken(String name) {
        return links.stream().anyMatch(link -> link.name().equals(name));
    }

    List<LocalLink> links() {
        return List.copyOf(links);
    }
}
