package trigon.routing.discovery;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * IPv6 addresses that cannot be bound to: the kernel still asks whether another machine has them, or another has.
 *
 * @param keys of the addresses: hexadecimal, and the interface's index
 */
record UnreadyAddresses(Set<String> keys) {

    private static final Path TABLE = Path.of("/proc/self/net/if_inet6");

    /** Columns: address, index, prefix length, scope and flags, all hexadecimal, and the interface's name. */
    private static final int INDEX = 1;

    private static final int FLAGS = 4;

    // linux/if_addr.h
    private static final int DAD_FAILED = 0x08;
    private static final int OPTIMISTIC = 0x04;
    private static final int TENTATIVE = 0x40;

    UnreadyAddresses {
        keys = Set.copyOf(keys);
    }

    /** Asks the kernel; none where it does not say. */
    static UnreadyAddresses now() {
        try {
            return of(Files.readString(TABLE).lines());
        } catch (IOException _) {
            return new UnreadyAddresses(Set.of()); // no IPv6
        }
    }

    static UnreadyAddresses of(Stream<String> lines) {
        return new UnreadyAddresses(lines.map(line -> line.strip().split("\\s+"))
                .filter(columns -> columns.length > FLAGS && isUnready(Integer.parseInt(columns[FLAGS], 16)))
                .map(columns -> columns[0] + " " + Integer.parseInt(columns[INDEX], 16))
                .collect(Collectors.toSet()));
    }

    private static boolean isUnready(int flags) {
        return (flags & DAD_FAILED) != 0 || (flags & (TENTATIVE | OPTIMISTIC)) == TENTATIVE;
    }

    boolean contains(int interfaceIndex, InetAddress address) {
        return keys.contains(key(interfaceIndex, address));
    }

    private static String key(int interfaceIndex, InetAddress address) {
        return HexFormat.of().formatHex(address.getAddress()) + " " + interfaceIndex;
    }
}
