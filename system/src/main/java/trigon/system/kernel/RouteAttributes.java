package trigon.system.kernel;

import java.io.ByteArrayOutputStream;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A message of a routing socket: a header of fixed size, and attributes by their kind. A message that is cut, or whose
 * attributes exceed it, is left out.
 *
 * @see <a href="https://man7.org/linux/man-pages/man7/netlink.7.html">netlink(7)</a>
 */
final class RouteAttributes {

    // linux/netlink.h, bits/socket.h
    static final int DUMP = 0x300;
    private static final short REQUEST = 1;
    private static final byte AF_INET = 2;
    private static final byte AF_INET6 = 10;
    private static final int ALIGNMENT = 4;

    private final byte[] fixed;
    private final Map<Integer, byte[]> attributes;

    private RouteAttributes(byte[] fixed, Map<Integer, byte[]> attributes) {
        this.fixed = fixed;
        this.attributes = attributes;
    }

    static byte family(InetAddress of) {
        return of.getAddress().length == 4 ? AF_INET : AF_INET6;
    }

    /** An attribute with its header, padded as the next one needs it. */
    static byte[] attribute(int kind, byte... value) {
        int length = NetlinkMessages.ATTRIBUTE_HEADER_BYTES + value.length;
        return ByteBuffer.allocate(aligned(length))
                .order(ByteOrder.nativeOrder())
                .putShort((short) length)
                .putShort((short) kind)
                .put(value)
                .array();
    }

    static byte[] request(int type, int flags, byte[] fixed, byte[]... attributes) {
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        body.writeBytes(fixed);
        for (byte[] each : attributes) {
            body.writeBytes(each);
        }
        int length = NetlinkMessages.HEADER_BYTES + body.size();
        return ByteBuffer.allocate(length)
                .order(ByteOrder.nativeOrder())
                .putInt(length)
                .putShort((short) type)
                .putShort((short) (REQUEST | flags))
                .putInt(1)
                .putInt(0)
                .put(body.toByteArray())
                .array();
    }

    /** The messages of one type in a datagram, each with a header of so many bytes. */
    static List<RouteAttributes> of(ByteBuffer datagram, int type, int headerBytes) {
        List<RouteAttributes> found = new ArrayList<>();
        int least = NetlinkMessages.HEADER_BYTES + headerBytes;
        int at = datagram.position();
        while (datagram.limit() - at >= NetlinkMessages.HEADER_BYTES) {
            int length = datagram.getInt(at);
            if (length < NetlinkMessages.HEADER_BYTES || length > datagram.limit() - at) {
                break;
            }
            if (length >= least && datagram.getShort(at + 4) == type) {
                byte[] fixed = new byte[headerBytes];
                datagram.get(at + NetlinkMessages.HEADER_BYTES, fixed);
                attributes(datagram, at + least, at + length)
                        .ifPresent(attributes -> found.add(new RouteAttributes(fixed, attributes)));
            }
            at += aligned(length);
        }
        return found;
    }

    private static Optional<Map<Integer, byte[]>> attributes(ByteBuffer datagram, int begin, int end) {
        Map<Integer, byte[]> attributes = new HashMap<>();
        int at = begin;
        while (at + NetlinkMessages.ATTRIBUTE_HEADER_BYTES <= end) {
            int length = datagram.getShort(at) & 0xFFFF;
            int kind = datagram.getShort(at + 2) & 0xFFFF;
            if (length < NetlinkMessages.ATTRIBUTE_HEADER_BYTES || length > end - at) {
                return Optional.empty();
            }
            byte[] value = new byte[length - NetlinkMessages.ATTRIBUTE_HEADER_BYTES];
            datagram.get(at + NetlinkMessages.ATTRIBUTE_HEADER_BYTES, value);
            attributes.put(kind, value);
            at += aligned(length);
        }
        return Optional.of(attributes);
    }

    /** A byte of the fixed header. */
    int header(int offset) {
        return fixed[offset] & 0xFF;
    }

    boolean has(int kind) {
        return attributes.containsKey(kind);
    }

    Optional<byte[]> value(int kind) {
        return Optional.ofNullable(attributes.get(kind));
    }

    /** An attribute of four bytes. */
    Optional<Integer> number(int kind) {
        return value(kind)
                .filter(value -> value.length == Integer.BYTES)
                .map(value ->
                        ByteBuffer.wrap(value).order(ByteOrder.nativeOrder()).getInt());
    }

    private static int aligned(int length) {
        return (length + ALIGNMENT - 1) & -ALIGNMENT;
    }
}
