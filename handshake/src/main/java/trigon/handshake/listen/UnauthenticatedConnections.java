package trigon.handshake.listen;

import java.net.InetAddress;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The open connections whose peers have not proven yet that they know the connection's secret. Bounded, in all and from
 * one address: a flood costs the flood, and few file descriptors, and one that comes from elsewhere does not push out a
 * peer. Event loop only.
 */
final class UnauthenticatedConnections {

    /** From one address: as many connections as NCCL may bring up at once between two processes, and some more. */
    static final int MAX_PER_ADDRESS = 256;

    /** From all addresses together. */
    static final int MAX = 512;

    private final Map<InetAddress, LinkedHashSet<IncomingConnection>> byAddress = new HashMap<>();
    private int count;

    /** Adds one; gives the one that has to go for it, the oldest of the address that has the most. */
    @Nullable
    IncomingConnection add(IncomingConnection connection) {
        LinkedHashSet<IncomingConnection> sameAddress =
                byAddress.computeIfAbsent(connection.remoteAddress(), _ -> new LinkedHashSet<>());
        if (sameAddress.add(connection)) {
            count++;
        }
        if (sameAddress.size() > MAX_PER_ADDRESS) {
            return sameAddress.getFirst();
        }
        return count > MAX ? oldestOfTheMost() : null;
    }

    private IncomingConnection oldestOfTheMost() {
        return byAddress.values().stream()
                .max(Comparator.comparingInt(LinkedHashSet::size))
                .orElseThrow()
                .getFirst();
    }

    /** Takes one out; others are ignored. */
    void remove(IncomingConnection connection) {
        LinkedHashSet<IncomingConnection> sameAddress = byAddress.get(connection.remoteAddress());
        if (sameAddress != null && sameAddress.remove(connection)) {
            count--;
            if (sameAddress.isEmpty()) {
                byAddress.remove(connection.remoteAddress());
            }
        }
    }

    int size() {
        return count;
    }
}
