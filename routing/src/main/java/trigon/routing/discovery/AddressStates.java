package trigon.routing.discovery;

import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import trigon.routing.discovery.HostInterface.AddressState;
import trigon.system.InterfaceAddress;

/**
 * States of IPv6 addresses that are not ordinary ones.
 *
 * @param byInterface by the interface's index
 */
record AddressStates(Map<Integer, Map<InterfaceAddress, AddressState>> byInterface) {

    private static final Path TABLE = Path.of("/proc/self/net/if_inet6");

    /** Columns: address, index, prefix length, scope and flags, all hexadecimal, and the interface's name. */
    private static final int INDEX = 1;

    private static final int PREFIX = 2;
    private static final int FLAGS = 4;
    private static final int HEXADECIMAL = 16;

    // linux/if_addr.h
    private static final int OPTIMISTIC = 0x04;
    private static final int DAD_FAILED = 0x08;
    private static final int DEPRECATED = 0x20;
    private static final int TENTATIVE = 0x40;

    /** Asks the kernel; none where it does not say. */
    static AddressStates now() {
        try {
            return of(Files.readString(TABLE).lines());
        } catch (IOException _) {
            return new AddressStates(Map.of()); // no IPv6
        }
    }

    static AddressStates of(Stream<String> lines) {
        Map<Integer, Map<InterfaceAddress, AddressState>> found = new HashMap<>();
        lines.map(line -> line.strip().split("\\s+"))
                .filter(columns -> columns.length > FLAGS)
                .forEach(columns -> state(number(columns[FLAGS]))
                        .ifPresent(state -> found.computeIfAbsent(number(columns[INDEX]), _ -> new HashMap<>())
                                .put(new InterfaceAddress(address(columns[0]), number(columns[PREFIX])), state)));
        return new AddressStates(found);
    }

    private static Optional<AddressState> state(int flags) {
        if ((flags & DAD_FAILED) != 0) {
            return Optional.of(AddressState.FAILED);
        }
        if ((flags & (TENTATIVE | OPTIMISTIC)) == TENTATIVE) {
            return Optional.of(AddressState.TENTATIVE);
        }
        return (flags & DEPRECATED) != 0 ? Optional.of(AddressState.DEPRECATED) : Optional.empty();
    }

    private static int number(String column) {
        return Integer.parseInt(column, HEXADECIMAL);
    }

    private static InetAddress address(String column) {
        try {
            return InetAddress.getByAddress(HexFormat.of().parseHex(column));
        } catch (UnknownHostException e) {
            throw new AssertionError("the kernel writes 16 bytes", e);
        }
    }

    /** The states of one interface's addresses. */
    Map<InterfaceAddress, AddressState> of(int interfaceIndex) {
        return byInterface.getOrDefault(interfaceIndex, Map.of());
    }

    /** Returns whether the kernel still examines an address of the interface. */
    boolean areTentative(int interfaceIndex) {
        return of(interfaceIndex).containsValue(AddressState.TENTATIVE);
    }
}
