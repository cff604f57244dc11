package trigon.routing;

import java.net.InetAddress;
import java.util.Optional;
import trigon.system.kernel.KernelRoute;

/** The kernel's routes. */
@FunctionalInterface
public interface RouteLookup {

    /** The address of this machine from which packets to the destination would be sent; empty: it has no route. */
    Optional<InetAddress> sourceFor(InetAddress destination);

    /** Returns whether packets from one of this machine's addresses to a destination go by a gateway. */
    default boolean hasGateway(InetAddress source, InetAddress destination) {
        return false;
    }

    /** The route of packets from one of this machine's addresses to a destination; empty if nobody knows it. */
    default Optional<KernelRoute> between(InetAddress source, InetAddress destination) {
        return Optional.empty();
    }

    /** The same routes, as if none had a gateway. */
    default RouteLookup ignoringGateways() {
        RouteLookup kernel = this;
        return new RouteLookup() {
            @Override
            public Optional<InetAddress> sourceFor(InetAddress destination) {
                return kernel.sourceFor(destination);
            }

            @Override
            public Optional<KernelRoute> between(InetAddress source, InetAddress destination) {
                return kernel.between(source, destination);
            }
        };
    }
}
