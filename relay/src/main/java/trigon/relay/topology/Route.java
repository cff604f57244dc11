package trigon.relay.topology;

import java.net.InetAddress;
import java.util.List;

/**
 * A route through relays to an address.
 *
 * @param local the own address on the link to the first relay
 * @param relays nodes to pass, in their order; 1 to {@link Routes#MAX_RELAYS}
 * @param names of their nodes, in the same order
 * @param speedMbps of its slowest hop, in Mbit/s
 * @param rdmaHops hops that RDMA carries, as far as their ends say
 * @param loadMbps what the busiest of the relays passes on now
 */
public record Route(
        InetAddress local, List<Relay> relays, List<String> names, int speedMbps, int rdmaHops, int loadMbps) {

    /**
     * A node that relays.
     *
     * @param address at which it is connected to
     * @param ports of its processes there, the least loaded first; at least one
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
