package trigon.software.device;

import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.nio.channels.DatagramChannel;
import trigon.software.SoftwareDevice;
import trigon.stream.dial.Dialer;
import trigon.system.Errno;
import trigon.system.InterfaceAddress;
import trigon.verbs.Gid;
import trigon.verbs.VerbsException;

/**
 * Tests whether a peer can be reached through a device, as an RDMA NIC would find out by address resolution: the peer
 * is in the device's subnet, or the kernel would use the device's address to talk to it; or a circuit leads there.
 * Without this rule any address would do for any peer, since TCP is routed, and a NIC chosen wrongly would only show on
 * hardware.
 */
final class Reachability {

    /** Any port: connecting a UDP socket sends nothing. */
    private static final int DISCARD_PORT = 9;

    private Reachability() {}

    /**
     * The peer's address, with the scope that a link-local one needs.
     *
     * @throws VerbsException ENETUNREACH if the peer cannot be reached through the device
     */
    static InetAddress resolve(SoftwareDevice device, Dialer dialer, Gid peer) {
        InetAddress address = peer.address()
                .map(found -> InterfaceAddress.inZone(found, device.interfaceIndex()))
                .orElseThrow(() -> new VerbsException(
                        "ibv_modify_qp", device.toString(), Errno.EINVAL, "the destination GID is zero"));
        boolean direct = device.isOnLink(address) || device.address().equals(kernelSource(address));
        if (direct || dialer.usesRelays(device.address(), address)) {
            return address;
        }
        throw new VerbsException(
                "ibv_modify_qp",
                device.toString(),
                Errno.ENETUNREACH,
                address.getHostAddress() + " is not in the device's subnet and not routed through it;"
                        + " choose the device that is on the peer's subnet");
    }

    private static DatagramChannel openProbe(InetAddress destination) {
        boolean four = destination instanceof Inet4Address;
        try {
            return DatagramChannel.open(four ? StandardProtocolFamily.INET : StandardProtocolFamily.INET6);
        } catch (IOException e) {
            // not a matter of routes: out of file descriptors, most likely
            throw new VerbsException(
                    "ibv_modify_qp",
                    destination.getHostAddress(),
                    Errno.ENOMEM,
                    "no socket to look for a route to it with: " + e.getMessage());
        }
    }

    /** The source address that the kernel's routes give; the unspecified address if there is no route. */
    private static InetAddress kernelSource(InetAddress destination) {
        try (DatagramChannel probe = openProbe(destination)) {
            probe.connect(new InetSocketAddress(destination, DISCARD_PORT));
            return ((InetSocketAddress) probe.getLocalAddress()).getAddress();
        } catch (IOException e) {
            // no route at all: the caller reports it
            return new InetSocketAddress(0).getAddress();
        }
    }
}
