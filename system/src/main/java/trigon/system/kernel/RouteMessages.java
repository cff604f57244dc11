package trigon.system.kernel;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Optional;

/**
 * What a routing socket is asked for one route, and what it answers; in the byte order of this machine.
 *
 * @see <a href="https://man7.org/linux/man-pages/man7/rtnetlink.7.html">rtnetlink(7)</a>
 */
final class RouteMessages {

    // linux/netlink.h, linux/rtnetlink.h
    static final int NEW_ROUTE = 24;
    static final int ROUTE_BYTES = 12;
    static final int RTA_GATEWAY = 5;
    static final int RTA_VIA = 18;
    private static final int GET_ROUTE = 26;
    private static final short REQUEST = 1;
    private static final int RTA_DST = 1;
    private static final int RTA_SRC = 2;
    private static final byte AF_INET = 2;
    private static final byte AF_INET6 = 10;
    private static final int ALIGNMENT = 4;

    private RouteMessages() {}

    /** Asks for the route by which packets go from one address to another of the same family. */
    static byte[] request(InetAddress from, InetAddress to) {
        byte[] source = from.getAddress();
        byte[] destination = to.getAddress();
        int attribute = NetlinkMessages.ATTRIBUTE_HEADER_BYTES + destination.length;
        int length = NetlinkMessages.HEADER_BYTES + ROUTE_BYTES + 2 * attribute;
        ByteBuffer message = ByteBuffer.allocate(length).order(ByteOrder.nativeOrder());
        message.putInt(length)
                .putShort((short) GET_ROUTE)
                .putShort(REQUEST)
                .putInt(1)
                .putInt(0);
        byte bits = (byte) (destination.length * Byte.SIZE);
        message.put(destination.length == 4 ? AF_INET : AF_INET6).put(bits).put(bits);
        message.position(NetlinkMessages.HEADER_BYTES + ROUTE_BYTES);
        message.putShort((short) attribute).putShort((short) RTA_DST).put(destination);
        message.putShort((short) attribute).putShort((short) RTA_SRC).put(source);
        return message.array();
    }

    /** Whether the route of an answer has a gateway; empty if the answer has no route. */
    static Optional<Boolean> hasGateway(ByteBuffer answer) {
        int begin = answer.position();
        int least = NetlinkMessages.HEADER_BYTES + ROUTE_BYTES;
        if (answer.remaining() < least || answer.getInt(begin) < least || answer.getShort(begin + 4) != NEW_ROUTE) {
            return Optional.empty();
        }
        int end = begin + Math.min(answer.getInt(begin), answer.remaining());
        int at = begin + NetlinkMessages.HEADER_BYTES + ROUTE_BYTES;
        while (at + NetlinkMessages.ATTRIBUTE_HEADER_BYTES <= end) {
            int length = answer.getShort(at) & 0xFFFF;
            int kind = answer.getShort(at + 2) & 0xFFFF;
            if (length < NetlinkMessages.ATTRIBUTE_HEADER_BYTES || length > end - at) {
                return Optional.empty();
            }
            if (kind == RTA_GATEWAY || kind == RTA_VIA) {
                return Optional.of(true);
            }
            at += (length + ALIGNMENT - 1) & -ALIGNMENT;
        }
        return Optional.of(false);
    }
}
