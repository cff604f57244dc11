package trigon.handshake.message;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import trigon.verbs.LinkKind;

/**
 * One link in a {@link ListenHandle}: family (1 bit: 0 IPv4, 1 IPv6), bandwidth (5) and kinds (2: 1 RDMA, 2 SOFTWARE)
 * in one byte, prefix length (1), port (2), address (4 or 16). That is 8 bytes for IPv4 and 20 for IPv6.
 */
final class LinkAddressCodec {

    private static final int HEADER_BYTES = 4;
    private static final int IPV6 = 0x80;
    private static final int BANDWIDTH_SHIFT = 2;
    private static final int KINDS = 3;
    private static final int IPV4_BYTES = 4;
    private static final int IPV6_BYTES = 16;

    private LinkAddressCodec() {}

    static int bytes(LinkAddress link) {
        return HEADER_BYTES + (link.isIpv4() ? IPV4_BYTES : IPV6_BYTES);
    }

    static void write(LinkAddress link, ByteBuffer to) {
        int family = link.isIpv4() ? 0 : IPV6;
        int kinds = link.kinds().stream().mapToInt(LinkAddressCodec::bit).reduce(0, (one, other) -> one | other);
        to.put((byte) (family | link.bandwidth() << BANDWIDTH_SHIFT | kinds))
                .put((byte) link.prefixLength())
                .putShort((short) link.port())
                .put(link.address().getAddress());
    }

    static List<LinkAddress> read(ByteBuffer from, int count) {
        List<LinkAddress> links = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            links.add(read(from));
        }
        return links;
    }

    private static LinkAddress read(ByteBuffer from) {
        requireRemaining(from, HEADER_BYTES);
        int first = Byte.toUnsignedInt(from.get());
        int prefixLength = Byte.toUnsignedInt(from.get());
        int port = Short.toUnsignedInt(from.getShort());
        byte[] address = new byte[(first & IPV6) == 0 ? IPV4_BYTES : IPV6_BYTES];
        requireRemaining(from, address.length);
        from.get(address);
        try {
            int bandwidth = (first & ~IPV6) >> BANDWIDTH_SHIFT;
            return new LinkAddress(
                    InetAddress.getByAddress(address), prefixLength, port, kinds(first & KINDS), bandwidth);
        } catch (IllegalArgumentException | UnknownHostException e) {
            throw ListenHandle.malformed(String.valueOf(e.getMessage()));
        }
    }

    private static Set<LinkKind> kinds(int bits) {
        Set<LinkKind> kinds = EnumSet.noneOf(LinkKind.class);
        for (LinkKind kind : LinkKind.values()) {
            if ((bits & bit(kind)) != 0) {
                kinds.add(kind);
            }
        }
        return kinds;
    }

    private static int bit(LinkKind kind) {
        return switch (kind) {
            case RDMA -> 1;
            case SOFTWARE -> 2;
        };
    }

    private static void requireRemaining(ByteBuffer from, int bytes) {
        if (from.remaining() < bytes) {
            throw ListenHandle.malformed("its links exceed its length");
        }
    }
}
