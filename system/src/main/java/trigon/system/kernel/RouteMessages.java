package trigon.system.kernel;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The question for one route to a routing socket, and its answer; in the byte order of this machine.
 *
 * @see <a href="https://man7.org/linux/man-pages/man7/rtnetlink.7.html">rtnetlink(7)</a>
 */
final class RouteMessages {

    // linux/netlink.h, linux/rtnetlink.h
    static final int NEW_ROUTE = 24;
    static final int ROUTE_BYTES = 12;
    static final int RTA_OIF = 4;
    static final int RTA_GATEWAY = 5;
    static final int RTA_TABLE = 15;
    static final int RTA_VIA = 18;
    private static final int TABLE_AT = 4;
    private static final int TYPE_AT = 7;
    private static final int LOCAL = 2;
    private static final int GET_ROUTE = 26;
    private static final int RTA_DST = 1;
    private static final int RTA_SRC = 2;

    /** Has the kernel name the table of the rule that matched; otherwise IPv4 always says main. */
    private static final int LOOKUP_TABLE = 0x1000;

    private RouteMessages() {}

    /** Asks for the route by which packets go from one address to another of the same family. */
    static byte[] request(InetAddress from, InetAddress to) {
        byte[] source = from.getAddress();
        byte[] destination = to.getAddress();
        byte bits = (byte) (destination.length * Byte.SIZE);
        ByteBuffer body = ByteBuffer.allocate(ROUTE_BYTES).order(ByteOrder.nativeOrder());
        body.put(RouteAttributes.family(to)).put(bits).put(bits).putInt(8, LOOKUP_TABLE);
        return RouteAttributes.request(
                GET_ROUTE,
                0,
                body.array(),
                RouteAttributes.attribute(RTA_DST, destination),
                RouteAttributes.attribute(RTA_SRC, source));
    }

    /** The route of an answer; empty if the answer has none. */
    static Optional<KernelRoute> route(ByteBuffer answer) {
        return RouteAttributes.of(answer, NEW_ROUTE, ROUTE_BYTES).stream()
                .findFirst()
                .map(found -> new KernelRoute(
                        found.number(RTA_OIF).orElse(0),
                        found.number(RTA_TABLE).orElse(found.header(TABLE_AT)) & 0xFFFF_FFFFL,
                        found.header(TYPE_AT) == LOCAL,
                        found.has(RTA_GATEWAY) || found.has(RTA_VIA),
                        OptionalLong.empty()));
    }
}
