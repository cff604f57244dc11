package trigon.relay.topology;

import java.net.InetAddress;
import java.nio.ByteBuffer;

/** A subnet, as a key of maps: the bits of its addresses that are the same, with zeros behind them. */
record Subnet(boolean isIpv4, long high, long low, int prefixLength) {

    /** The one that the address is in, for a prefix of that length. */
    static Subnet of(InetAddress address, int prefixLength) {
        ByteBuffer bytes = ByteBuffer.wrap(address.getAddress());
        boolean isIpv4 = bytes.remaining() == Integer.BYTES;
        long high = isIpv4 ? (long) bytes.getInt() << Integer.SIZE : bytes.getLong();
        long low = isIpv4 ? 0 : bytes.getLong();
        return new Subnet(
                isIpv4,
                leading(high, Math.min(prefixLength, Long.SIZE)),
                leading(low, Math.max(0, prefixLength - Long.SIZE)),
                prefixLength);
    }

    private static long leading(long bits, int count) {
        return count == 0 ? 0 : bits & -1L << (Long.SIZE - count);
    }
}
