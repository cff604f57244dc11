package trigon.benchmarks;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.util.Optional;

/** The part of the page on a minute at full rate: {@code ./trigon benchmarks steady}. */
final class Steady {

    private static final double SLOWEST_NS = 2000;

    private final Render page;

    Steady(Render page) {
        this.page = page;
    }

    void render() throws IOException {
        page.heading("A minute at full rate: `./trigon benchmarks steady`");
        render("steady-instant.json", "instant device");
        render("steady-links.json", "software links");
    }

    private void render(String file, String device) throws IOException {
        Optional<JsonNode> json = page.read(file);
        if (json.isEmpty()) {
            return;
        }
        NetBench run = NetBench.of(json.get());
        run.plugin(Render.TRIGON)
                .flatMap(plugin -> plugin.find("test_call", 1, -1))
                .ifPresent(result -> {
                    JsonNode jvm = run.jvm();
                    double seconds = result.number("seconds");
                    double collections = jvm.path("collections_while_measuring").asDouble(Double.NaN);
                    page.line(("%s: %s. Messages of one after the other, irecv, isend, test and iflush, for %s s: %s,"
                                    + " with %s calls of `test()`.")
                            .formatted(
                                    device,
                                    run.machine(),
                                    Budget.number(seconds),
                                    Budget.number(result.number("messages")),
                                    Budget.number(result.number("calls"))));
                    page.line("");
                    page.line("| `test()`, ns | 50 % | 99 % | 99.9 % | 99.99 % | longest | JVM: collections | stops |"
                            + " longest stop, ms |");
                    page.line("|---|---|---|---|---|---|---|---|---|");
                    page.line("| %s | %s | %s | %s | %s | %s | %.0f | %d | %s |"
                            .formatted(
                                    device,
                                    Budget.number(result.number("p50")),
                                    Budget.number(result.number("p99")),
                                    Budget.number(result.number("p99_9")),
                                    Budget.number(result.number("p99_99")),
                                    Budget.number(result.number("max")),
                                    collections,
                                    jvm.path("pauses_while_measuring").asInt(),
                                    Budget.number(jvm.path("longest_while_measuring_ns")
                                                    .asDouble()
                                            / 1e6)));
                    page.line("");
                    String what = "%s, %.0f s at full rate: ".formatted(device, seconds);
                    page.budget(Budget.atMost(what + "collections", collections, 0, ""));
                    page.budget(Budget.atMost(
                            what + "99.9 % of the `test()` calls", result.number("p99_9"), SLOWEST_NS, "ns"));
                });
    }
}
