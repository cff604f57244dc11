package trigon.handshake.message;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import trigon.verbs.LinkKind;

/**
 * One address at which a listener can be reached.
 *
 * @param address the link's own address; without a scope
 * @param prefixLength of the link's subnet, 0 to 32 or 128
 * @param port the TCP port that the listener has on this address, 1 to 65535
 * @param kinds what the link can carry data with; at least one
 * @param bandwidth what the link carries, as routing compares it: 0 to {@link #NOT_TOLD}
 */
public record LinkAddress(InetAddress address, int prefixLength, int port, Set<LinkKind> kinds, int bandwidth) {

    /** The listener does not say what the link carries. */
    public static final int NOT_TOLD = 31;

    private static final int HEADER_BYTES = 4;
    private static final int IPV6 = 0x80;
    private static final int BANDWIDTH_SHIFT = 2;
    private static final int KINDS = 3;
    private static final int IPV4_BYTES = 4;
    private static final int IPV6_BYTES = 16;

    public LinkAddress {
        address = withoutScope(address);
        int bits = address.getAddress().length * Byte.SIZE;
        if (prefixLength < 0 || prefixLength > bits) {
            throw new IllegalArgumentException("prefix length " + prefixLength + " is not in 0.." + bits);
        }
        if (port < 1 || port > 0xFFFF) {
            throw new IllegalArgumentException("port " + port + " is not in 1..65535");
        }
        if (kinds.isEmpty()) {
            throw new IllegalArgumentException("a link must carry RDMA or TCP");
        }
        if (bandwidth < 0 || bandwidth > NOT_TOLD) {
            throw new IllegalArgumentException("bandwidth " + bandwidth + " is not in 0.." + NOT_TOLD);
        }
        kinds = Set.copyOf(EnumSet.copyOf(kinds));
    }

    /** A link whose bandwidth is not told. */
    public LinkAddress(InetAddress address, int prefixLength, int port, Set<LinkKind> kinds) {
        this(address, prefixLength, port, kinds, NOT_TOLD);
    }

    boolean isIpv4() {
        return address instanceof Inet4Address;
    }

    /** A scope is an interface's number on one machine and means nothing on another. */
    private static InetAddress withoutScope(InetAddress address) {
        try {
            return InetAddress.getByAddress(address.getAddress());
        } catch (UnknownHostException e) {
            throw new AssertionError("an address has 4 or 16 bytes", e);
        }
    }

    /** Length of its encoding. */
    int encodedBytes() {
        return HEADER_BYTES + (isIpv4() ? IPV4_BYTES : IPV6_BYTES);
    }

    /**
     * Encodes it: family (1 bit: 0 IPv4, 1 IPv6), bandwidth (5) and kinds (2: 1 RDMA, 2 SOFTWARE) in one byte, prefix
     * length (1), port (2), address (4 or 16). That is 8 bytes for IPv4 and 20 for IPv6.
     */
    void write(ByteBuffer to) {
        int family = isIpv4() ? 0 : IPV6;
        int bits = kinds.stream().mapToInt(LinkAddress::bit).reduce(0, (one, other) -> one | other);
        to.put((byte) (family | bandwidth << BANDWIDTH_SHIFT | bits))
                .put((byte) prefixLength)
                .putShort((short) port)
                .put(address.getAddress());
    }

    /** Reads so many encoded ones. */
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

    /** As in a log: {@code 10.0.1.2/24:40123 [RDMA]}. */
    @Override
    public String toString() {
        return "%s/%d:%d %s".formatted(address.getHostAddress(), prefixLength, port, kinds);
    }
}
