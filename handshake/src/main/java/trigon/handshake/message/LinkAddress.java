package trigon.handshake.message;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.EnumSet;
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

    /** As in a log: {@code 10.0.1.2/24:40123 [RDMA]}. */
    @Override
    public String toString() {
        return "%s/%d:%d %s".formatted(address.getHostAddress(), prefixLength, port, kinds);
    }
}
