package trigon.stream.hop;

import java.net.InetAddress;
import trigon.verbs.Gid;
import trigon.verbs.VerbsProvider;

/**
 * An RDMA port that serves an address of this node.
 *
 * @param provider of the device
 * @param address the local address that circuits use
 * @param deviceName of the RDMA device
 * @param port the device's port, from 1
 * @param gid the port's GID for that address
 */
public record HopPort(VerbsProvider provider, InetAddress address, String deviceName, int port, Gid gid) {

    /**
     * Returns whether a GID can be that of a neighbour. The kernel looks for another one on the network, and blocks for
     * as long as nobody answers. Where GIDs are no addresses, as on InfiniBand, it has to be of the same subnet.
     *
     * @param neighbour the address by which the neighbour is connected
     */
    boolean mayReach(Gid theirs, InetAddress neighbour) {
        return gid.equals(Gid.of(address)) ? theirs.equals(Gid.of(neighbour)) : theirs.high() == gid.high();
    }
}
