package trigon.cluster.facts;

import java.util.Map;
import java.util.TreeMap;

/** The kernel's counters, by their names. */
public final class Counters {

    private Counters() {}

    /** Those that have grown, by how much; in the order of their names. */
    public static Map<String, Long> moved(Map<String, Long> before, Map<String, Long> after) {
        Map<String, Long> moved = new TreeMap<>();
        before.forEach((name, count) -> {
            long more = after.getOrDefault(name, 0L) - count;
            if (more > 0) {
                moved.put(name, more);
            }
        });
        return moved;
    }
}
