package trigon.system.kernel;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Optional;
import trigon.system.NativeFunction;
import trigon.system.file.Folder;

/**
 * Limit of the segments of a TCP connection, in both directions: {@code TCP_MAXSEG}, which Java has no option for. Java
 * does not tell a socket's descriptor either, so the socket is found by the address that it is bound to. Thread-safe.
 *
 * @see <a href="https://man7.org/linux/man-pages/man7/tcp.7.html">tcp(7)</a>
 */
public final class TcpSegments {

    private static final Path DESCRIPTORS = Path.of("/proc/self/fd");

    /** IPPROTO_TCP of netinet/in.h and TCP_MAXSEG of netinet/tcp.h. */
    private static final int TCP = 6;

    private static final int MAX_SEGMENT = 2;

    /** AF_INET and AF_INET6 of bits/socket.h. */
    private static final int IPV4 = 2;

    private static final int IPV6 = 10;

    /** Size of {@code struct sockaddr_in6}, the longest that is asked for, and where both kinds have what. */
    private static final int ADDRESS_BYTES = 28;

    private static final int PORT = 2;
    private static final int IPV4_ADDRESS = 4;
    private static final int IPV6_ADDRESS = 8;

    private static final NativeFunction GET_NAME = NativeFunction.of("getsockname");
    private static final NativeFunction SET_OPTION = NativeFunction.of("setsockopt");

    private TcpSegments() {}

    /**
     * Limits those of a socket of this process that is bound and not connected yet; the peer is told when it connects.
     *
     * @param bound its own address, with a port that no other socket of the process has
     * @param bytes the most of a segment, without headers; 88 to 32767
     * @throws IOException if there is no such socket, or the kernel refuses
     */
    public static void limit(InetSocketAddress bound, int bytes) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            for (Path each : Folder.entries(DESCRIPTORS)) {
                int descriptor = Integer.parseInt(each.getFileName().toString());
                if (addressOf(descriptor, arena).filter(bound::equals).isPresent()) {
                    setLimit(descriptor, bytes, arena);
                    return;
                }
            }
        }
        throw new IOException("no socket of this process is bound to " + bound);
    }

    private static void setLimit(int descriptor, int bytes, Arena arena) throws IOException {
        MemorySegment value = arena.allocateFrom(JAVA_INT, bytes);
        if ((int) SET_OPTION.call(descriptor, TCP, MAX_SEGMENT, value.address(), Integer.BYTES, 0, 0) != 0) {
            throw new IOException("the kernel does not limit segments to %d bytes".formatted(bytes));
        }
    }

    /** Empty if it is no socket, or none of IPv4 or IPv6. */
    private static Optional<InetSocketAddress> addressOf(int descriptor, Arena arena) throws UnknownHostException {
        MemorySegment address = arena.allocate(ADDRESS_BYTES, Long.BYTES);
        MemorySegment length = arena.allocateFrom(JAVA_INT, ADDRESS_BYTES);
        if ((int) GET_NAME.call(descriptor, address.address(), length.address()) != 0) {
            return Optional.empty();
        }
        int at;
        int size;
        switch (address.get(JAVA_SHORT, 0)) {
            case IPV4 -> {
                at = IPV4_ADDRESS;
                size = 4;
            }
            case IPV6 -> {
                at = IPV6_ADDRESS;
                size = 16;
            }
            default -> {
                return Optional.empty();
            }
        }
        byte[] octets = address.asSlice(at, size).toArray(JAVA_BYTE);
        int port = Short.toUnsignedInt(address.get(JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN), PORT));
        // one of IPv4 that Java has by a socket of IPv6 becomes one of IPv4 here, as in Java
        return Optional.of(new InetSocketAddress(InetAddress.getByAddress(octets), port));
    }
}
