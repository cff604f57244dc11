package trigon.relay.topology;

import java.net.InetAddress;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import trigon.system.InterfaceAddress;

/**
 * A node, put together from what its processes announce.
 *
 * @param id what it is told apart by
 * @param name for people
 * @param links by address
 */
public record Node(long id, String name, List<Link> links) {

    /**
     * A process of the node that relays.
     *
     * @param port its TCP port, on this link
     * @param loadMbps what it relays now
     * @param instance the process
     */
    public record RelayPort(int port, int loadMbps, long instance) {}

    /**
     * A link of the node's.
     *
     * @param address of the node there
     * @param speedMbps rate in Mbit/s
     * @param rdma whether RDMA carries hops there
     * @param heard neighbours' addresses
     * @param crowded whether everybody in the subnet counts as heard
     * @param relays the node's processes that relay, the least loaded first
     */
    public record Link(
            InterfaceAddress address,
            int speedMbps,
            boolean rdma,
            Set<InetAddress> heard,
            boolean crowded,
            List<RelayPort> relays) {

        /** Returns whether that address was heard there. */
        public boolean hears(InetAddress other) {
            return heard.contains(other) || (crowded && !address.isLinkLocal() && address.contains(other));
        }

        /** Returns whether they are two ends of a link that works: one has heard the other. */
        boolean joins(Link other) {
            return hears(other.address.address()) || other.hears(address.address());
        }
    }

    public Node {
        links = List.copyOf(links);
    }

    /** Returns whether a process of it relays. */
    public boolean relays() {
        return links.stream().anyMatch(link -> !link.relays().isEmpty());
    }

    /** The link that has the address. */
    public Optional<Link> link(InetAddress address) {
        return links.stream()
                .filter(link -> link.address().address().equals(address))
                .findFirst();
    }

    @Override
    public String toString() {
        return name;
    }
}
