package trigon.tools.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import trigon.cluster.json.Json;
import trigon.cluster.json.JsonObject;

/**
 * A step's outcome.
 *
 * @param measured empty if the step failed
 * @param ways the plugin's lines about the paths, such as over which link
 * @param networks of these paths
 * @param failure the reason; empty if it was measured
 */
record BenchRow(
        BenchStep step, Optional<Measurement> measured, List<String> ways, List<Network> networks, String failure) {

    BenchRow {
        ways = List.copyOf(ways);
        networks = List.copyOf(networks);
    }

    static BenchRow failed(BenchStep step, String why) {
        return new BenchRow(step, Optional.empty(), List.of(), List.of(), why);
    }

    boolean hasFailed() {
        return measured.isEmpty();
    }

    /** With what other nodes know of it: their reasons for a failure, and their networks with relays. */
    BenchRow completed(List<JsonObject> others) {
        StringBuilder reasons = new StringBuilder(failure);
        List<Network> all = new ArrayList<>(networks);
        for (JsonObject other : others) {
            String node = other.text("host");
            other.objects("measurements").stream().filter(this::isSame).forEach(row -> {
                row.find("failed")
                        .filter(why -> hasFailed() && reasons.indexOf(why) < 0)
                        .ifPresent(why ->
                                reasons.append('\n').append(node).append(": ").append(why));
                row.objects("networks").stream()
                        .filter(network -> network.find("relays").isPresent())
                        .map(network -> Network.of(node, network))
                        .forEach(all::add);
            });
        }
        return new BenchRow(step, measured, ways, all, reasons.toString());
    }

    private boolean isSame(JsonObject row) {
        return row.text("test").equals(step.kind().toString())
                && row.whole("bytes") == step.bytes()
                && row.values().get("ranks") instanceof List<?> ranks
                && ranks.equals(step.ranks());
    }

    Map<String, Object> json() {
        Map<String, Object> json =
                Json.object("test", step.kind().toString(), "ranks", step.ranks(), "bytes", step.bytes());
        measured.ifPresent(each -> json.putAll(Json.object(
                "rounds", each.rounds(),
                "medianMicros", each.micros(),
                "gigabytesPerSecond", each.gigabytesPerSecond(),
                "wrong", each.wrong(),
                "networks", networks.stream().map(Network::json).toList())));
        if (hasFailed()) {
            json.put("failed", failure);
        }
        return json;
    }
}
