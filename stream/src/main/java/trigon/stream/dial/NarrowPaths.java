package trigon.stream.dial;

import java.net.InetAddress;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import trigon.system.NanoClock;

/**
 * Pairs of addresses between which frames of the full size are lost, and smaller ones pass: the ports' MTUs differ, or
 * a switch between them has a smaller one and says nothing. Connections that are made between them keep to smaller
 * segments; after a while the full size is tried again. Thread-safe.
 */
public final class NarrowPaths {

    /** Time until the full size is tried again. */
    static final Duration LASTS = Duration.ofMinutes(1);

    /** More pairs than the nodes of a job have with one of them. */
    private static final int MAX = 1024;

    private record Ends(InetAddress local, InetAddress remote) {}

    private record Limit(int segmentBytes, long since) {}

    private final Map<Ends, Limit> limits = new ConcurrentHashMap<>();
    private final NanoClock clock;

    /** None that is known. */
    NarrowPaths(NanoClock clock) {
        this.clock = clock;
    }

    /**
     * Takes note that frames of the full size are lost there, both ways or one, and segments of that size pass.
     *
     * @return whether that is new
     */
    public boolean add(InetAddress local, InetAddress remote, int segmentBytes) {
        Ends ends = new Ends(local, remote);
        if (limits.size() >= MAX && !limits.containsKey(ends)) {
            return false;
        }
        return limits.put(ends, new Limit(segmentBytes, clock.nanoTime())) == null;
    }

    /** Takes note that frames of the full size pass. Returns whether they were known to be lost. */
    public boolean remove(InetAddress local, InetAddress remote) {
        return limits.remove(new Ends(local, remote)) != null;
    }

    /** The most bytes of a segment there, without headers; 0 if the full size passes, or is to be tried again. */
    public int segmentBytes(InetAddress local, InetAddress remote) {
        Limit known = limits.get(new Ends(local, remote));
        return known == null || clock.nanoTime() - known.since > LASTS.toNanos() ? 0 : known.segmentBytes;
    }
}
