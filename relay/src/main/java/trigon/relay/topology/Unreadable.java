package trigon.relay.topology;

import java.net.InetAddress;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Neighbours' addresses from which announcements come that cannot be taken, and why. Anybody can send such, so that few
 * are remembered. One thread.
 */
final class Unreadable {

    /** Bound on the sources: the first ones show a cause that all nodes share. */
    static final int MAX_SOURCES = 8;

    private record Heard(Incompatibility cause, long at) {}

    private final Map<InetAddress, Heard> sources = new LinkedHashMap<>();

    /** Takes note of one that has come. */
    void hear(InetAddress source, Incompatibility cause, long now) {
        if (sources.containsKey(source) || sources.size() < MAX_SOURCES) {
            sources.put(source, new Heard(cause, now));
        }
    }

    /** Forgets what was not heard again for longer than that. */
    void forget(long now, long nanos) {
        sources.values().removeIf(heard -> now - heard.at() > nanos);
    }

    /** Sources without neighbours that are heard as well: another user's job is there, for example. */
    Map<InetAddress, Incompatibility> without(Collection<Map<InetAddress, Long>> neighbours) {
        Map<InetAddress, Incompatibility> left = new HashMap<>();
        sources.forEach((source, heard) -> {
            if (neighbours.stream().noneMatch(there -> there.containsKey(source))) {
                left.put(source, heard.cause());
            }
        });
        return left;
    }
}
