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
public record HopPort(VerbsProvider provider, InetAddress address, String deviceName, int port, Gid gid) {}
