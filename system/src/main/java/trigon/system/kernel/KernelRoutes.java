package trigon.system.kernel;

import java.net.InetAddress;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Asks the kernel for a route, rules and tables included, by a routing socket. Any thread; does not block.
 *
 * @see <a href="https://man7.org/linux/man-pages/man7/rtnetlink.7.html">rtnetlink(7)</a>
 */
public final class KernelRoutes {

    private KernelRoutes() {}

    /**
     * Whether packets between two addresses of one family go by a gateway.
     *
     * @return empty if there is no route, or the kernel answers nobody here
     */
    public static Optional<Boolean> hasGateway(InetAddress from, InetAddress to) {
        AtomicReference<Optional<Boolean>> answer = new AtomicReference<>(Optional.empty());
        RoutingSocket.ask(RouteMessages.request(from, to), part -> {
            answer.set(RouteMessages.hasGateway(part));
            return false;
        });
        return answer.get();
    }
}
