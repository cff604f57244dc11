package trigon.benchmarks;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What net-bench measured in one run.
 *
 * @param machine processor, cores, kernel and load, in words
 * @param drivers kernel drivers of the RDMA devices, by device; decides how the plugin calls the verbs
 * @param jvm the JVM's stops
 * @param plugins in the order of the command line
 */
record NetBench(String machine, String drivers, JsonNode jvm, List<Plugin> plugins) {

    /** What a plugin achieved, under one API version of NCCL's. */
    record Plugin(String name, int api, double initSeconds, List<Result> results) {

        /** A result of one question; of the messages, one at a time. */
        Optional<Result> find(String question, int comms, long bytes) {
            return results.stream()
                    .filter(result -> result.question.equals(question)
                            && result.comms == comms
                            && (bytes < 0 || (result.bytes == bytes && result.window == 1)))
                    .findFirst();
        }
    }

    /**
     * One figure.
     *
     * @param bytes of the messages, or -1
     * @param window messages on their way at a time, or -1
     * @param median of the samples, or NaN where there are none
     * @param all the object as it was read
     */
    record Result(String question, int comms, long bytes, int window, String unit, double median, JsonNode all) {

        /** By the thread's own clock where there is one: what the machine did besides is not in it. */
        double onProcessor() {
            return all.path("processor_median").asDouble(median);
        }

        double number(String field) {
            return all.path(field).asDouble(Double.NaN);
        }

        /** What was asked, in words. */
        String words() {
            return switch (question) {
                case "devices" -> "`devices()`: the call alone";
                case "test_empty" -> "`test()` that finds nothing";
                case "test_empty_of_one" -> "`test()` that finds nothing, one used of those that are open";
                case "message_of_one" -> "message of %s, one used of those that are open".formatted(size(bytes));
                case "isend_without_receive" -> "`isend()` before the receive is there";
                case "message" -> "message of %s, %d at a time".formatted(size(bytes), window);
                case "connect_early" -> "connection, both ends, of the first 100";
                case "connect" -> "warm connection, both ends";
                case "close" -> "closing it, both ends";
                default -> question;
            };
        }
    }

    static NetBench of(JsonNode json) {
        JsonNode machine = json.path("machine");
        List<Plugin> plugins = new ArrayList<>();
        for (JsonNode plugin : json.path("plugins")) {
            List<Result> results = new ArrayList<>();
            for (JsonNode result : plugin.path("results")) {
                results.add(new Result(
                        result.path("question").asText(),
                        result.path("comms").asInt(),
                        result.path("bytes").asLong(-1),
                        result.path("window").asInt(-1),
                        result.path("unit").asText(),
                        result.path("median").asDouble(Double.NaN),
                        result));
            }
            plugins.add(new Plugin(
                    plugin.path("name").asText(),
                    plugin.path("api").asInt(),
                    plugin.path("init_seconds").asDouble(),
                    List.copyOf(results)));
        }
        return new NetBench(
                "%s, %d cores, Linux %s, load %s at the end"
                        .formatted(
                                machine.path("processor").asText(),
                                machine.path("cores").asInt(),
                                machine.path("kernel").asText(),
                                machine.path("load").asText()),
                json.path("rdma_drivers").toString(),
                json.path("jvm"),
                List.copyOf(plugins));
    }

    Optional<Plugin> plugin(String name) {
        return plugins.stream().filter(plugin -> plugin.name.equals(name)).findFirst();
    }

    static String size(long bytes) {
        if (bytes >= 1 << 20 && bytes % (1 << 20) == 0) {
            return (bytes >> 20) + " MiB";
        }
        return bytes >= 1024 && bytes % 1024 == 0 ? (bytes >> 10) + " KiB" : bytes + " B";
    }
}
