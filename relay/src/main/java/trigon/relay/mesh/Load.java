package trigon.relay.mesh;

import java.util.concurrent.TimeUnit;
import trigon.relay.RelayCounts;

/** The rate of a relay, from one question to the next. One thread. */
final class Load {

    private final RelayCounts counts;
    private long bytes;
    private int last;
    private long at = System.nanoTime();

    Load(RelayCounts counts) {
        this.counts = counts;
    }

    /** In Mbit/s, both directions of all circuits together, since the last question. */
    int mbps() {
        long now = System.nanoTime();
        long moved = counts.bytes() - bytes;
        long nanos = Math.max(1, now - at);
        if (nanos < TimeUnit.MILLISECONDS.toNanos(100)) {
            return last;
        }
        bytes += moved;
        at = now;
        last = (int) Math.min(Integer.MAX_VALUE, moved * 8 * 1000 / nanos);
        return last;
    }
}
