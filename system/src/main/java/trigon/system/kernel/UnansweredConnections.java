package trigon.system.kernel;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.Set;
import java.util.StringTokenizer;
import java.util.function.Predicate;

/**
 * TCP connections of this network namespace whose data no kernel acknowledges: proc_net_tcp(5) and tcp.c's {@code
 * get_tcp4_sock}. A receiver that does not read, or is stopped, is not among them: its kernel answers window probes.
 */
public final class UnansweredConnections {

    private static final Path TABLES = Path.of("/proc/net");

    private static final int LOCAL = 1;
    private static final int REMOTE = 2;

    /** Column of the bytes that are not acknowledged, an end of the connection included, and of those not read. */
    private static final int QUEUES = 4;

    private static final int TIMER = 5;
    private static final int RETRANSMITS = 6;

    /** Column of the probes sent: for a closed window, data that found no route, or an idle connection (keepalive). */
    private static final int PROBES = 8;

    /** The retransmission timer runs, and no other one. */
    private static final String RETRANSMISSION = "01:";

    private UnansweredConnections() {}

    /**
     * Reads the kernel's tables for connections whose last segment, or a probe, was sent again at least so many times.
     * Each time takes twice as long as the one before, and the first at least 0.2 s. An answer sets the count to 0.
     */
    public static Set<TcpEnds> read(int times) throws IOException {
        return read(TABLES, times);
    }

    static Set<TcpEnds> read(Path tables, int times) throws IOException {
        return find(tables, fields -> isUnanswered(fields, times));
    }

    /**
     * Reads the kernel's tables for connections with something that the other side has not acknowledged: sent or not,
     * taken by its kernel or not, for lack of room there too.
     */
    public static Set<TcpEnds> readUnacknowledged() throws IOException {
        return readUnacknowledged(TABLES);
    }

    static Set<TcpEnds> readUnacknowledged(Path tables) throws IOException {
        return find(tables, UnansweredConnections::isUnacknowledged);
    }

    private static Set<TcpEnds> find(Path tables, Predicate<String[]> condition) throws IOException {
        Set<TcpEnds> found = new HashSet<>();
        for (String table : new String[] {"tcp", "tcp6"}) {
            if (Files.exists(tables.resolve(table))) { // no tcp6 without IPv6
                Files.readAllLines(tables.resolve(table)).stream()
                        .skip(1)
                        .map(UnansweredConnections::fields)
                        .filter(condition)
                        .forEach(fields -> found.add(new TcpEnds(address(fields[LOCAL]), address(fields[REMOTE]))));
            }
        }
        return found;
    }

    /** Splits a line at its blanks, without a regular expression: a busy node has thousands, twice a second. */
    private static String[] fields(String line) {
        StringTokenizer blanks = new StringTokenizer(line);
        String[] fields = new String[blanks.countTokens()];
        Arrays.setAll(fields, _ -> blanks.nextToken());
        return fields;
    }

    private static boolean isUnanswered(String[] fields, int times) {
        if (fields.length <= PROBES) {
            return false;
        }
        int count = fields[TIMER].startsWith(RETRANSMISSION)
                ? Integer.parseUnsignedInt(fields[RETRANSMITS], 16)
                : Integer.parseUnsignedInt(fields[PROBES]);
        return count >= times;
    }

    private static boolean isUnacknowledged(String[] fields) {
        return fields.length > PROBES
                && Integer.parseUnsignedInt(fields[QUEUES], 0, fields[QUEUES].indexOf(':'), 16) != 0;
    }

    /** For example {@code 0100007F:1F90}: words of the network's bytes as this machine reads them, and the port. */
    private static InetSocketAddress address(String text) {
        int colon = text.indexOf(':');
        ByteBuffer words = ByteBuffer.wrap(HexFormat.of().parseHex(text, 0, colon));
        ByteBuffer bytes = ByteBuffer.allocate(words.capacity()).order(ByteOrder.nativeOrder());
        while (words.hasRemaining()) {
            bytes.putInt(words.getInt());
        }
        try {
            return new InetSocketAddress(
                    InetAddress.getByAddress(bytes.array()), Integer.parseInt(text, colon + 1, text.length(), 16));
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException(text + " is no address", e);
        }
    }
}
