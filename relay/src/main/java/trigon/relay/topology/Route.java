package trigon.relay.topology;

import java.net.InetAddress;
import java.util.List;

/**
 * A route through relays to an address.
 *
 * @param local the own address on the link to the first relay
 * @param relays nodes to pass, in their order; 1 to {@link trigon.relay.table.RouteTable#MAX_RELAYS}
 * @param remote the address of the end, on the link to the last relay
 * @param names of the relays' nodes, in the same order
 * @param speedMbps of its slowest hop, in Mbit/s
 * @param rdmaHops hops that RDMA carries, as far as their ends say
 */
public record Route(
        InetAddress local, List<Relay> relays, InetAddress remote, List<String> names, int speedMbps, int rdmaHops) {

    /**
     * A node that relays.
     *
     * @param address at which it is connected to
     * @param ports of its processes there; at least one
     */
    public record Relay(InetAddress address, List<Integer> ports) {

        public Relay {
            ports = List.copyOf(ports);
        }
    }

    public Route {
        relays = List.copyOf(relays);
        names = List.copyOf(names);
    }

    /** For example {@code over b, c}. */
    @Override
    public String toString() {
        return "over " + String.join(", ", names);
    }
}
