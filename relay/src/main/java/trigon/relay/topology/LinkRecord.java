package trigon.relay.topology;

import java.net.InetAddress;
import java.util.List;
import trigon.system.InterfaceAddress;

/**
 * A link as a process announces it.
 *
 * @param address of the process's node on it
 * @param relayPort TCP port of the process's relay there; 0 if it does not relay
 * @param speedMbps rate in Mbit/s
 * @param rdma whether RDMA carries hops of relayed connections there, if it does at the other end, too
 * @param neighbours addresses that were heard there lately, sorted; at most {@link #MAX_NEIGHBOURS}
 * @param crowded whether there are more of them: then none is named, and everybody in the subnet counts as heard
 */
public record LinkRecord(
        InterfaceAddress address,
        int relayPort,
        int speedMbps,
        boolean rdma,
        List<InetAddress> neighbours,
        boolean crowded) {

    /** More are no direct cables but a switch. */
    public static final int MAX_NEIGHBOURS = 8;

    public LinkRecord {
        neighbours = List.copyOf(neighbours);
        if (neighbours.size() > MAX_NEIGHBOURS) {
            throw new IllegalArgumentException(neighbours.size() + " neighbours");
        }
    }

    /** A link over TCP on which nobody has been heard. */
    public static LinkRecord silent(InterfaceAddress address, int relayPort, int speedMbps) {
        return new LinkRecord(address, relayPort, speedMbps, false, List.of(), false);
    }

    /** Returns whether it is the same but for its relay. */
    boolean isLike(LinkRecord other) {
        return address.equals(other.address)
                && speedMbps == other.speedMbps
                && rdma == other.rdma
                && crowded == other.crowded
                && neighbours.equals(other.neighbours);
    }

    /** Returns whether that address was heard there. */
    public boolean hears(InetAddress other) {
        return neighbours.contains(other) || (crowded && !address.isLinkLocal() && address.contains(other));
    }
}
