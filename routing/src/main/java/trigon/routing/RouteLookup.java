package trigon.routing;

import java.net.InetAddress;
import java.util.Optional;

/** The kernel's routes. */
@FunctionalInterface
public interface RouteLookup {

    /** The address of this machine from which packets to the destination would be sent; empty: it has no route. */
    Optional<InetAddress> sourceFor(InetAddress destination);

    /** Whether packets from one of this machine's addresses to a destination go by a gateway. */
    default boolean hasGateway(InetAddress source, InetAddress destination) {
        return false;
    }

    /** The same routes, as if none had a gateway. */
    default RouteLookup ignoringGateways() {
        RouteLookup kernel = this;
        return new RouteLookup() {
            @Override
            public Optional<InetAddress> sourceFor(InetAddress destination) {
                return kernel.sourceFor(destination);
            }
        };
    }
}
