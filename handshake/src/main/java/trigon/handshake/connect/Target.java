package trigon.handshake.connect;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import trigon.handshake.message.ConnectionId;
import trigon.handshake.message.ConnectionSecret;
import trigon.stream.dial.Dialer;
import trigon.stream.dial.FirstHop;
import trigon.system.InterfaceAddress;

/**
 * The goal of a client's connection, and the listener's proof that it takes.
 *
 * @param local the local address that it is bound to
 * @param remote the listener's address
 * @param firstHop that address, or the first relay of a circuit to it
 * @param secret from the handle
 * @param connection its id, from the handle
 */
record Target(
        InetAddress local,
        InetSocketAddress remote,
        FirstHop firstHop,
        ConnectionSecret secret,
        ConnectionId connection) {

    /** Returns whether its TCP connection ends at the listener, and at no relay. */
    boolean isDirect() {
        return firstHop.route().isEmpty();
    }

    /** The same, reached in segments of so many bytes at most. */
    Target inSegmentsOf(int bytes) {
        return new Target(local, remote, firstHop.inSegmentsOf(bytes), secret, connection);
    }

    /** The same without relays, also where they lead there. */
    Target directlyBy(Dialer dialer) {
        return new Target(local, remote, dialer.directly(local, remote), secret, connection);
    }

    /**
     * The way to a listener that a dialer knows.
     *
     * @throws IllegalArgumentException if the remote address is a name that was not resolved
     */
    static Target by(
            Dialer dialer,
            InetAddress local,
            InetSocketAddress remote,
            ConnectionSecret secret,
            ConnectionId connection) {
        if (remote.isUnresolved()) {
            throw new IllegalArgumentException(remote + " is a name, not an address");
        }
        InetSocketAddress end = inZoneOf(local, remote);
        return new Target(local, end, dialer.firstHop(local, end), secret, connection);
    }

    /** A link-local address means nothing without the interface to use: that of the own end. */
    private static InetSocketAddress inZoneOf(InetAddress local, InetSocketAddress remote) {
        int zone = local instanceof Inet6Address from ? from.getScopeId() : 0;
        return remote.getAddress() instanceof Inet6Address to && to.getScopeId() == 0
                ? new InetSocketAddress(InterfaceAddress.inZone(to, zone), remote.getPort())
                : remote;
    }
}
