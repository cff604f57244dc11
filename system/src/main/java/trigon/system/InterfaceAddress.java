package trigon.system;

import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * An IP address of an interface with the length of its subnet's prefix, for example {@code 10.0.12.1/24}.
 *
 * <p>Ordered by family, then as unsigned numbers, then by prefix.
 *
 * @param address without host name and without zone
 * @param prefixLength leading bits that the subnet's addresses share: 0 to 32, or to 128 for IPv6
 */
public record InterfaceAddress(InetAddress address, int prefixLength) implements Comparable<InterfaceAddress> {

    private static final Pattern IPV4 =
            Pattern.compile("(0|[1-9]\\d{0,2})\\.(0|[1-9]\\d{0,2})\\.(0|[1-9]\\d{0,2})\\." + "(0|[1-9]\\d{0,2})");
    private static final Pattern IPV6 = Pattern.compile("[0-9a-fA-F:]*:[0-9a-fA-F:.]*");
    private static final Pattern PREFIX = Pattern.compile("0|[1-9]\\d{0,2}");

    public InterfaceAddress {
        address = ofBytes(address.getAddress());
        int most = address.getAddress().length * Byte.SIZE;
        if (prefixLength < 0 || prefixLength > most) {
            throw new IllegalArgumentException("the prefix length is not in 0.." + most);
        }
    }

    /**
     * Reads {@code address/prefix}. No name is ever looked up.
     *
     * @throws IllegalArgumentException if it is anything else; the message is the rule it breaks
     */
    public static InterfaceAddress parse(String text) {
        int slash = text.indexOf('/');
        if (slash < 0) {
            throw new IllegalArgumentException("the prefix length is missing; write it as in 10.0.12.1/24");
        }
        InetAddress address = parseAddress(text.substring(0, slash));
        String prefix = text.substring(slash + 1);
        if (!PREFIX.matcher(prefix).matches()) {
            throw new IllegalArgumentException(
                    "the prefix length after the slash must be a number, as in 10.0.12.1/24");
        }
        return new InterfaceAddress(address, Integer.parseInt(prefix));
    }

    /**
     * Reads an address without prefix: four decimal numbers without leading zeros, or IPv6 without zone.
     *
     * @throws IllegalArgumentException if it is anything else; the message is the rule it breaks
     */
    public static InetAddress parseAddress(String text) {
        Matcher ipv4 = IPV4.matcher(text);
        if (ipv4.matches()) {
            byte[] bytes = new byte[4];
            for (int i = 0; i < bytes.length; i++) {
                int part = Integer.parseInt(ipv4.group(i + 1));
                if (part > 255) {
                    throw new IllegalArgumentException("the parts of an IPv4 address are not above 255");
                }
                bytes[i] = (byte) part;
            }
            return ofBytes(bytes);
        }
        if (IPV6.matcher(text).matches()) {
            try {
                return Inet6Address.ofLiteral(text);
            } catch (IllegalArgumentException _) {
                // falls through to the rule, which says more than the JDK's message
            }
        }
        throw new IllegalArgumentException(
                "it must be an IPv4 or IPv6 address, not a name, as in 10.0.12.1 or fd00::1");
    }

    /** Returns whether the other address is in this one's subnet. False for the other IP version. */
    public boolean contains(InetAddress other) {
        byte[] mine = address.getAddress();
        byte[] others = other.getAddress();
        if (mine.length != others.length) {
            return false;
        }
        int whole = prefixLength / Byte.SIZE;
        int rest = prefixLength % Byte.SIZE;
        return Arrays.equals(mine, 0, whole, others, 0, whole)
                && (rest == 0 || ((mine[whole] ^ others[whole]) & 0xFF) >>> (Byte.SIZE - rest) == 0);
    }

    /** Returns whether it is one of IPv6 that means something on its own link only; all of them are in one subnet. */
    public boolean isLinkLocal() {
        return address instanceof Inet6Address && address.isLinkLocalAddress();
    }

    /**
     * A link-local IPv6 address with the interface to use, without which it means nothing to a socket; any other
     * address unchanged.
     *
     * @param interfaceIndex 0 if it is not known
     */
    public static InetAddress inZone(InetAddress address, int interfaceIndex) {
        boolean isLinkLocal = address instanceof Inet6Address && address.isLinkLocalAddress();
        if (!isLinkLocal || interfaceIndex == 0) {
            return address;
        }
        try {
            return Inet6Address.getByAddress(null, address.getAddress(), interfaceIndex);
        } catch (UnknownHostException e) {
            throw new AssertionError("16 bytes are always an address", e);
        }
    }

    /** Why no interface can be reached under this address in this subnet; empty if one can. */
    public Optional<String> flaw() {
        if (address.isAnyLocalAddress()) {
            return Optional.of("it stands for any address");
        }
        if (address.isMulticastAddress()) {
            return Optional.of("it is a multicast address");
        }
        if (isLinkLocal()) {
            return Optional.of("it is link-local, and every link has that subnet; name the interface instead");
        }
        // RFC 3021 and RFC 6164: in subnets of two addresses both are hosts'
        int hostBits = address.getAddress().length * Byte.SIZE - prefixLength;
        if (hostBits > 1 && hostBitsAre(0)) {
            return Optional.of("its host bits are all zero: that is the subnet, not an address in it");
        }
        if (hostBits > 1 && address instanceof Inet4Address && hostBitsAre(1)) {
            return Optional.of("its host bits are all one: that is the subnet's broadcast address");
        }
        return Optional.empty();
    }

    /** The address as text; IPv6 as RFC 5952 shortens it, without zone. */
    public static String text(InetAddress address) {
        byte[] bytes = address.getAddress();
        if (bytes.length == 4) {
            return ofBytes(bytes).getHostAddress();
        }
        int[] groups = new int[8];
        for (int i = 0; i < groups.length; i++) {
            groups[i] = (bytes[2 * i] & 0xFF) << 8 | (bytes[2 * i + 1] & 0xFF);
        }
        int from = 0;
        int length = 0;
        for (int start = 0; start < groups.length; start++) {
            int end = start;
            while (end < groups.length && groups[end] == 0) {
                end++;
            }
            if (end - start > length) {
                from = start;
                length = end - start;
            }
        }
        return length < 2
                ? join(groups, 0, groups.length)
                : join(groups, 0, from) + "::" + join(groups, from + length, groups.length);
    }

    @Override
    public int compareTo(InterfaceAddress other) {
        byte[] mine = address.getAddress();
        byte[] others = other.address.getAddress();
        if (mine.length != others.length) {
            return Integer.compare(mine.length, others.length);
        }
        int byAddress = Arrays.compareUnsigned(mine, others);
        return byAddress != 0 ? byAddress : Integer.compare(prefixLength, other.prefixLength);
    }

    /** The subnet's text, the same for all addresses in it: for example {@code 10.0.12.0/24}. */
    public String subnet() {
        byte[] bytes = address.getAddress();
        for (int bit = prefixLength; bit < bytes.length * Byte.SIZE; bit++) {
            bytes[bit / Byte.SIZE] &= (byte) ~(0x80 >>> bit % Byte.SIZE);
        }
        return new InterfaceAddress(ofBytes(bytes), prefixLength).toString();
    }

    /** As {@link #parse} reads it. */
    @Override
    public String toString() {
        return text(address) + "/" + prefixLength;
    }

    private boolean hostBitsAre(int bit) {
        byte[] bytes = address.getAddress();
        for (int i = prefixLength; i < bytes.length * Byte.SIZE; i++) {
            if ((bytes[i / Byte.SIZE] >>> (Byte.SIZE - 1 - i % Byte.SIZE) & 1) != bit) {
                return false;
            }
        }
        return true;
    }

    private static String join(int[] groups, int from, int to) {
        StringBuilder text = new StringBuilder();
        for (int i = from; i < to; i++) {
            text.append(i == from ? "" : ":").append(Integer.toHexString(groups[i]));
        }
        return text.toString();
    }

    /** The address of 4 or 16 bytes, without host name and zone; an IPv4-mapped one becomes IPv4. */
    public static InetAddress ofBytes(byte[] bytes) {
        try {
            return InetAddress.getByAddress(bytes);
        } catch (UnknownHostException e) {
            throw new AssertionError("an address has 4 or 16 bytes", e);
        }
    }
}
