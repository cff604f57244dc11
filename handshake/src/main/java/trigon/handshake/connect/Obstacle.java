package trigon.handshake.connect;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.NoRouteToHostException;
import java.net.SocketException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import trigon.stream.ConnectFailures;
import trigon.system.InterfaceAddress;
import trigon.system.kernel.KernelNeighbours;
import trigon.system.kernel.KernelNeighbours.Neighbour;
import trigon.system.kernel.KernelRoute;
import trigon.system.kernel.KernelRoutes;

/**
 * Cause of a TCP connection that did not come up, as far as this node's kernel knows it. Asks the kernel; does not
 * block.
 *
 * @param isFirewall whether a firewall is known to reject it: the next try ends alike
 * @param text cause and remedy, for the user; empty if the kernel knows none
 */
record Obstacle(boolean isFirewall, Optional<String> text) {

    private static final Obstacle UNKNOWN = new Obstacle(false, Optional.empty());

    /**
     * The cause between two addresses.
     *
     * @param failure how the connection ended; null after a timeout
     */
    static Obstacle between(InetAddress local, InetAddress remote, @Nullable Throwable failure) {
        Optional<NetworkInterface> own = interfaceOf(local);
        if (own.isEmpty() || local.isLoopbackAddress() || remote.isLoopbackAddress()) {
            return refusal(failure);
        }
        Optional<KernelRoute> route = isScoped(local) ? Optional.empty() : KernelRoutes.withRule(local, remote);
        String there = InterfaceAddress.text(remote);
        if (route.filter(taken ->
                        !taken.isLocal() && taken.interfaceIndex() != own.get().getIndex())
                .isPresent()) {
            return new Obstacle(false, Optional.of(elsewhere(local, there, own.get(), route.get())));
        }
        Optional<Neighbour> neighbour = KernelNeighbours.at(remote, own.get().getIndex());
        if (neighbour.filter(asked -> asked.hardware().isEmpty()).isPresent()) {
            return new Obstacle(
                    false,
                    Optional.of(
                            ("no hardware answers for %s on %s: the cable leads elsewhere, the other end is down, or"
                                            + " it is in another network of the same numbers")
                                    .formatted(there, own.get().getName())));
        }
        if (failure instanceof NoRouteToHostException && neighbour.isPresent()) {
            return new Obstacle(
                    true,
                    Optional.of(("a firewall rejects it: the hardware of %s answers, and TCP does not get through; run"
                                    + " trigon doctor for the command that opens the firewall")
                            .formatted(there)));
        }
        return refusal(failure);
    }

    private static Obstacle refusal(@Nullable Throwable failure) {
        return ConnectFailures.isRefusal(failure)
                ? new Obstacle(false, Optional.of("the peer's process has ended, or a firewall refuses TCP"))
                : UNKNOWN;
    }

    private static String elsewhere(InetAddress local, String there, NetworkInterface own, KernelRoute taken) {
        String here = InterfaceAddress.text(local);
        return "this node's kernel sends to %s from %s through %s (%s), not through %s; see ip route get %s from %s"
                .formatted(there, here, name(taken.interfaceIndex()), taken.source(), own.getName(), there, here);
    }

    private static boolean isScoped(InetAddress local) {
        return local instanceof Inet6Address six && six.getScopeId() > 0;
    }

    private static Optional<NetworkInterface> interfaceOf(InetAddress local) {
        try {
            return Optional.ofNullable(
                    local instanceof Inet6Address six && six.getScopeId() > 0
                            ? NetworkInterface.getByIndex(six.getScopeId())
                            : NetworkInterface.getByInetAddress(local));
        } catch (SocketException _) {
            return Optional.empty();
        }
    }

    private static String name(int index) {
        try {
            NetworkInterface found = NetworkInterface.getByIndex(index);
            return found == null ? "interface " + index : found.getName();
        } catch (SocketException _) {
            return "interface " + index;
        }
    }
}
