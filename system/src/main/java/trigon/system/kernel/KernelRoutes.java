package trigon.system.kernel;

import java.net.InetAddress;
import java.util.Optional;

/**
 * Asks the kernel for a route, as {@code ip route get TO from FROM} does, rules and tables included. Any thread; does
 * not block.
 *
 * @see <a href="https://man7.org/linux/man-pages/man7/rtnetlink.7.html">rtnetlink(7)</a>
 */
public final class KernelRoutes {

    private KernelRoutes() {}

    /**
     * The route that packets between two addresses of one family take.
     *
     * @return empty if there is no route, or the kernel answers nobody here
     */
    public static Optional<KernelRoute> between(InetAddress from, InetAddress to) {
        return RoutingSocket.ask(RouteMessages.request(from, to), false).stream()
                .findFirst()
                .flatMap(RouteMessages::route);
    }

    /** The same with the rule that leads to its table, which needs a second question. */
    public static Optional<KernelRoute> withRule(InetAddress from, InetAddress to) {
        return between(from, to)
                .map(route -> route.byRule(RuleMessages.preference(
                        RoutingSocket.ask(RuleMessages.request(from), true), route.table(), from, to)));
    }
}
