package trigon.routing;

import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.nio.channels.DatagramChannel;
import java.util.Optional;
import trigon.system.kernel.KernelRoute;
import trigon.system.kernel.KernelRoutes;

/**
 * Asks this machine's kernel: connecting a UDP socket sends nothing, but looks the route up and chooses the source
 * address (connect(2), udp(7)). Thread-safe; does not block.
 */
public final class KernelRouteLookup implements RouteLookup {

    /** Any port will do; this one is that of the discard service. */
    private static final int PORT = 9;

    @Override
    public Optional<InetAddress> sourceFor(InetAddress destination) {
        StandardProtocolFamily family =
                destination instanceof Inet4Address ? StandardProtocolFamily.INET : StandardProtocolFamily.INET6;
        try (DatagramChannel channel = DatagramChannel.open(family)) {
            channel.connect(new InetSocketAddress(destination, PORT));
            InetSocketAddress source = (InetSocketAddress) channel.getLocalAddress();
            return Optional.of(source.getAddress());
        } catch (IOException | UnsupportedOperationException _) {
            // unreachable, or the machine has no IPv6: no route either way
            return Optional.empty();
        }
    }

    /** Returns true if the kernel does not say: TCP gets through in either case. */
    @Override
    public boolean hasGateway(InetAddress source, InetAddress destination) {
        return KernelRoutes.between(source, destination)
                .map(KernelRoute::hasGateway)
                .orElse(true);
    }

    @Override
    public Optional<KernelRoute> between(InetAddress source, InetAddress destination) {
        return KernelRoutes.between(source, destination);
    }
}
