package trigon.tools.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import trigon.cluster.json.Json;
import trigon.cluster.json.JsonObject;
import trigon.tools.bench.BenchStep.Kind;
import trigon.tools.console.CommandFailure;

/**
 * A step's outcome.
 *
 * @param rounds times in microseconds, sorted, of a decoding step divided by its all-reduces; empty if the step failed
 * @param wrong elements with another value than the sum
 * @param ways the plugin's lines about the paths, such as over which link
 * @param networks of these paths
 * @param failure the reason; empty if it was measured
 */
record BenchRow(
        BenchStep step, List<Double> rounds, long wrong, List<String> ways, List<Network> networks, String failure) {

    static BenchRow failed(BenchStep step, String why) {
        return new BenchRow(step, List.of(), 0, List.of(), List.of(), why);
    }

    /**
     * Reads the output of nccl-host.
     *
     * @throws CommandFailure if it has no result
     */
    static BenchRow measured(BenchStep step, String output, List<String> ways, List<Network> networks) {
        JsonObject said = output.lines()
                .filter(each -> each.startsWith("{"))
                .findFirst()
                .map(JsonObject::parse)
                .orElseThrow(() -> new CommandFailure("nccl-host has said nothing"));
        List<Double> all = said.numbers("round_us");
        int together = step.kind() == Kind.DECODE ? BenchStep.ALL_REDUCES_OF_A_STEP : 1;
        List<Double> rounds = IntStream.range(0, all.size() / together)
                .mapToObj(round -> all.subList(round * together, (round + 1) * together))
                .map(each -> each.stream().mapToDouble(Double::doubleValue).sum() / together)
                .sorted()
                .toList();
        if (rounds.isEmpty()) {
            throw new CommandFailure("nccl-host has measured nothing");
        }
        return new BenchRow(step, rounds, said.whole("wrong"), ways, networks, "");
    }

    boolean hasFailed() {
        return rounds.isEmpty();
    }

    /** Time of a message from its sender's call to the receiver's having it, or of an all-reduce. */
    double micros() {
        return micros(rounds.size() / 2);
    }

    /** The same of the slowest but one in a hundred. */
    double p99Micros() {
        return micros((rounds.size() * 99 - 1) / 100);
    }

    private double micros(int round) {
        return step.kind() == Kind.POINT_TO_POINT ? rounds.get(round) / 2 : rounds.get(round);
    }

    /**
     * In GB/s: of a message, what goes in one direction while as much goes in the other; of an all-reduce, the bus
     * bandwidth as nccl-tests define it.
     */
    double gigabytesPerSecond() {
        if (micros() <= 0) {
            return 0;
        }
        double plain = step.bytes() / micros() / 1e3;
        int ranks = step.ranks().size();
        return step.kind() == Kind.POINT_TO_POINT ? plain : plain * 2 * (ranks - 1) / ranks;
    }

    /** Adds what other nodes know of it: their reasons for a failure, and their networks with relays. */
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
        return new BenchRow(step, rounds, wrong, ways, all, reasons.toString());
    }

    private boolean isSame(JsonObject row) {
        return row.text("test").equals(step.kind().toString())
                && row.whole("bytes") == step.bytes()
                && row.whole("channels") == step.channels()
                && step.ranks().equals(row.values().get("ranks"));
    }

    Map<String, Object> json() {
        Map<String, Object> json = Json.object(
                "test",
                step.kind().toString(),
                "ranks",
                step.ranks(),
                "bytes",
                step.bytes(),
                "channels",
                step.channels());
        if (hasFailed()) {
            json.put("failed", failure);
        } else {
            json.putAll(Json.object(
                    "rounds", rounds.size(),
                    "medianMicros", micros(),
                    "p99Micros", p99Micros(),
                    "gigabytesPerSecond", gigabytesPerSecond(),
                    "wrong", wrong,
                    "networks", networks.stream().map(Network::json).toList()));
        }
        return json;
    }
}
