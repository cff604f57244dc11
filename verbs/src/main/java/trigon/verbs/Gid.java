package trigon.verbs;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.util.Optional;

/**
 * A 128-bit global identifier ({@code union ibv_gid}), which is how a queue pair names the port at the other end.
 *
 * <p>RoCE v2 forms it from an IP address: an IPv4 address as an IPv4-mapped IPv6 address.
 *
 * @param high bytes 0 to 7, in network order
 * @param low bytes 8 to 15, in network order
 */
public record Gid(long high, long low) {

    /** Length in bytes. */
    public static final int BYTES = 16;

    private static final long IPV4_MAPPED_PREFIX = 0x0000_FFFF_0000_0000L;

    /** The GID that stands for an IP address. */
    public static Gid of(InetAddress address) {
        byte[] bytes = address.getAddress();
        if (address instanceof Inet4Address) {
            return new Gid(
                    0,
                    IPV4_MAPPED_PREFIX
                            | Integer.toUnsignedLong(ByteBuffer.wrap(bytes).getInt()));
        }
        return ofBytes(bytes);
    }

    /** The GID in 16 bytes of network order. */
    public static Gid ofBytes(byte[] bytes) {
        if (bytes.length != BYTES) {
            throw new IllegalArgumentException("a GID has 16 bytes, not " + bytes.length);
        }
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        return new Gid(buffer.getLong(), buffer.getLong());
    }

    /** The 16 bytes in network order. */
    public byte[] toBytes() {
        return ByteBuffer.allocate(BYTES).putLong(high).putLong(low).array();
    }

    /** Returns whether all bits are zero: an unused entry of a GID table. */
    public boolean isZero() {
        return high == 0 && low == 0;
    }

    /** Returns whether it stands for an IPv4 address. */
    public boolean isIpv4Mapped() {
        return high == 0 && (low & 0xFFFF_FFFF_0000_0000L) == IPV4_MAPPED_PREFIX;
    }

    /** The IP address it stands for; empty for the zero GID. */
    public Optional<InetAddress> address() {
        if (isZero()) {
            return Optional.empty();
        }
        try {
            // getByAddress turns an IPv4-mapped address into an Inet4Address
            return Optional.of(InetAddress.getByAddress(toBytes()));
        } catch (UnknownHostException e) {
            throw new AssertionError("16 bytes are always an address", e);
        }
    }

    /** As an IPv6 address, or {@code ::ffff:a.b.c.d}. */
    @Override
    public String toString() {
        return isIpv4Mapped()
                ? "::ffff:" + address().orElseThrow().getHostAddress()
                : address().map(InetAddress::getHostAddress).orElse("::");
    }
}
