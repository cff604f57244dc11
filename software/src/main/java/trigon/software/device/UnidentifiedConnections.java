package trigon.software.device;

import java.net.InetAddress;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import trigon.software.responder.InboundConnection;

/**
 * The accepted connections that have not said whose they are. Bounded: a flood costs the flood, and one that comes from
 * elsewhere does not push out a peer. The event loop's.
 */
final class UnidentifiedConnections {

    /** More than peers have at a time, since they say it at once; and few file descriptors. */
    static final int MAX = 1024;

    private final Map<InetAddress, LinkedHashSet<InboundConnection>> byAddress = new HashMap<>();
    private int count;

    /** Adds one; returns the one that has to go for it, which is the oldest of the address with the most. */
    @Nullable
    InboundConnection add(InboundConnection connection) {
        byAddress
                .computeIfAbsent(connection.address(), _ -> new LinkedHashSet<>())
                .add(connection);
        count++;
        return count > MAX ? oldestOfTheBusiest() : null;
    }

    private InboundConnection oldestOfTheBusiest() {
        return byAddress.values().stream()
                .max(Comparator.comparingInt(LinkedHashSet::size))
                .orElseThrow()
                .getFirst();
    }

    /** Takes one out, if it is in. */
    void remove(InboundConnection connection) {
        LinkedHashSet<InboundConnection> sameAddress = byAddress.get(connection.address());
        if (sameAddress != null && sameAddress.remove(connection)) {
            count--;
            if (sameAddress.isEmpty()) {
                byAddress.remove(connection.address());
            }
        }
    }
}
