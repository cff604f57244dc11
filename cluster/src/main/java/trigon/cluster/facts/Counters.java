package trigon.cluster.facts;

import java.util.TreeMap;
import trigon.cluster.json.JsonObject;

/** What the kernel counts, by its names. */
public record Counters(JsonObject json) {

    /** Those that have grown until then, by how much; in the order of their names. */
    public TreeMap<String, Long> moved(Counters after) {
        TreeMap<String, Long> moved = new TreeMap<>();
        json.values().keySet().forEach(name -> {
            long more = after.json.whole(name) - json.whole(name);
            if (more > 0) {
                moved.put(name, more);
            }
        });
        return moved;
    }
}
