package trigon.hop;

import java.net.InetAddress;
import trigon.verbs.Gid;
import trigon.verbs.VerbsProvider;

/**
 * An RDMA port that serves an address of this node.
 *
 * @param provider of the device
 * @param address what circuits are connected from and to
 * @param deviceName of the RDMA device
 * @param port the device's port, from 1
 * @param gid of the address
 */
public record HopPort(VerbsProvider provider, InetAddress address, String deviceName, int port, Gid gid) {}
