package trigon.cluster.facts;

import java.util.Optional;
import trigon.cluster.json.JsonObject;

/** What a process may have there. */
public record Limits(JsonObject json) {

    public String lockedBytes() {
        return json.text("lockedBytes");
    }

    public String openFiles() {
        return json.text("openFiles");
    }

    public String tasks() {
        return json.text("tasks");
    }

    public Optional<Double> sharedMemoryBytes() {
        return json.number("sharedMemoryBytes");
    }
}
