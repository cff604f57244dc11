package trigon.benchmarks;

import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import trigon.benchmarks.NetBench.Plugin;
import trigon.benchmarks.NetBench.Result;

/**
 * The part of the page on what grows with the size of a message: Trigon should add the same to what the device takes
 * for the bytes, however many there are.
 */
final class Sizes {

    private static final double TOLERANCE = 1.2;

    private final Render page;

    Sizes(Render page) {
        this.page = page;
    }

    void render(Plugin trigon, Plugin alone) {
        List<Result> messages = trigon.results().stream()
                .filter(result -> result.question().equals("message") && result.window() == 1)
                .filter(result -> device(alone, result).isPresent())
                .sorted(Comparator.comparingLong(Result::bytes))
                .toList();
        if (messages.size() < 2) {
            return;
        }
        Result shortest = messages.getFirst();
        double fixed = shortest.onProcessor() - device(alone, shortest).orElseThrow();
        page.line("By size, one message at a time, on the processor:");
        page.line("");
        page.line("| size | Trigon, ns | the device alone, ns | Trigon to the device | Trigon adds, ns |"
                + " Trigon to the device and what is added to %s |".formatted(NetBench.size(shortest.bytes())));
        page.line("|---|---|---|---|---|---|");
        double worst = 0;
        for (Result message : messages) {
            double device = device(alone, message).orElseThrow();
            double ours = message.onProcessor();
            double ofLine = ours / (device + fixed);
            worst = Math.max(worst, ofLine);
            page.line("| %s | %s | %s | %s | %s | %s |"
                    .formatted(
                            NetBench.size(message.bytes()),
                            Budget.number(ours),
                            Budget.number(device),
                            Budget.number(ours / device),
                            Budget.number(ours - device),
                            Budget.number(ofLine)));
        }
        page.line("");
        page.budget(Budget.atMost(
                "growth, message of %s to %s, the worst: to the device and what is added to %s"
                        .formatted(
                                NetBench.size(shortest.bytes()),
                                NetBench.size(messages.getLast().bytes()),
                                NetBench.size(shortest.bytes())),
                worst,
                TOLERANCE,
                "times"));
    }

    private static Optional<Double> device(Plugin alone, Result message) {
        return alone.find("message", message.comms(), message.bytes()).map(Result::onProcessor);
    }
}
