package trigon.routing;

import java.net.InetAddress;
import java.util.Optional;

/** The kernel's routes. */
@FunctionalInterface
public interface RouteLookup {

    /** The address of this machine from which packets to the destination would be sent; empty: it has no route. */
    Optional<InetAddress> sourceFor(InetAddress destination);
}
