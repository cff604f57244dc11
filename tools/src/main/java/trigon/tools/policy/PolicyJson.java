package trigon.tools.policy;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import trigon.tools.console.Json;
import trigon.tools.machine.Machine;

/** What the JSON of these commands begins with. */
final class PolicyJson {

    private PolicyJson() {}

    /** A document of that schema, with these keys and values. */
    static Map<String, Object> document(Machine machine, String schema, Object... keysAndValues) {
        List<Object> all =
                new ArrayList<>(List.of("schema", schema, "version", machine.version(), "host", machine.hostName()));
        all.addAll(List.of(keysAndValues));
        return Json.object(all.toArray());
    }
}
