package trigon.benchmarks;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Tells how long all-reduces take from a process's first on, by what {@code cold.sh} has measured: a table on standard
 * output, and for each size a plot. Arguments: the file, and a folder for the plots or nothing.
 */
final class Cold {

    /** Rounds from one to another, counted from 1; both are in it. */
    private record Span(String name, int from, int to) {

        double median(double[] rounds) {
            return Cold.median(Arrays.copyOfRange(rounds, from - 1, Math.min(to, rounds.length)));
        }
    }

    /** What was measured in turns. */
    private record Variant(String distribution, String options, long bytes) {

        String name() {
            return options.isEmpty() ? distribution : distribution + " " + options;
        }
    }

    private static final List<Span> SPANS =
            List.of(new Span("1-5", 1, 5), new Span("6-25", 6, 25), new Span("26-100", 26, 100));

    /** Of the rounds, the last: by then all that is used often should be compiled. */
    private static final double STEADY = 0.25;

    /** For the plot: the first rounds one by one, then fewer. */
    private static final int[] SHOWN = {1, 2, 3, 5, 8, 13, 25, 50, 100, 200, 500, 1000, 2000, 5000};

    private final Map<Variant, Map<String, double[]>> rounds = new LinkedHashMap<>();

    private Cold() {}

    public static void main(String[] arguments) throws IOException {
        if (arguments.length < 1 || arguments.length > 2) {
            throw new IllegalArgumentException("needs the file of cold.sh, and perhaps a folder for plots");
        }
        Cold cold = new Cold();
        cold.read(Path.of(arguments[0]));
        cold.table();
        if (arguments.length == 2) {
            cold.plots(Path.of(arguments[1]));
        }
    }

    /** A round is over when it is on the last rank. */
    private void read(Path file) throws IOException {
        ObjectMapper mapper = new ObjectMapper();
        for (String line : Files.readAllLines(file)) {
            String[] fields = line.split("\t", -1);
            JsonNode json = mapper.readTree(fields[3]);
            Variant variant =
                    new Variant(fields[1], fields[2], json.path("bytes").asLong());
            double[] all = rounds.computeIfAbsent(variant, _ -> new LinkedHashMap<>())
                    .computeIfAbsent(
                            fields[0], _ -> new double[json.path("round_us").size()]);
            for (int i = 0; i < all.length; i++) {
                all[i] = Math.max(all[i], json.path("round_us").path(i).asDouble());
            }
        }
    }

    private void table() {
        print("Microseconds of a round: the median of the processes' medians, and the worst of them; behind them the"
                + " same of the ratios to the process's own steady state, which is the median of its last quarter.");
        print("");
        print("| what | bytes | processes | "
                + String.join(" | ", SPANS.stream().map(Span::name).toList()) + " | steady state |");
        print("|---|---|---|" + "---|".repeat(SPANS.size() + 1));
        rounds.forEach((variant, processes) -> {
            List<String> cells = new ArrayList<>();
            for (Span span : SPANS) {
                double[] times =
                        processes.values().stream().mapToDouble(span::median).toArray();
                double[] ratios = processes.values().stream()
                        .mapToDouble(each -> span.median(each) / steady(each))
                        .toArray();
                cells.add("%.0f, worst %.0f (%.1f, worst %.1f)"
                        .formatted(median(times), worst(times), median(ratios), worst(ratios)));
            }
            double[] steady =
                    processes.values().stream().mapToDouble(Cold::steady).toArray();
            cells.add("%.0f, worst %.0f".formatted(median(steady), worst(steady)));
            print("| %s | %d | %d | %s |"
                    .formatted(variant.name(), variant.bytes(), processes.size(), String.join(" | ", cells)));
        });
    }

    private void plots(Path folder) throws IOException {
        Files.createDirectories(folder);
        for (long bytes :
                rounds.keySet().stream().map(Variant::bytes).distinct().toList()) {
            BarChart chart = new BarChart(
                    "An all-reduce of %s, by its number in the process".formatted(NetBench.size(bytes)), "us");
            rounds.forEach((variant, processes) -> {
                if (variant.bytes() == bytes) {
                    addRounds(chart, variant.name(), List.copyOf(processes.values()));
                }
            });
            Files.writeString(folder.resolve("cold-%d.svg".formatted(bytes)), chart.svg());
        }
    }

    private static void addRounds(BarChart chart, String name, List<double[]> processes) {
        int count = processes.getFirst().length;
        for (int number : SHOWN) {
            if (number <= count) {
                double[] times =
                        processes.stream().mapToDouble(each -> each[number - 1]).toArray();
                chart.add("round " + number, name, median(times));
            }
        }
    }

    private static double steady(double[] rounds) {
        int first = (int) (rounds.length * (1 - STEADY));
        return median(Arrays.copyOfRange(rounds, first, rounds.length));
    }

    private static double worst(double[] values) {
        return Arrays.stream(values).max().orElseThrow();
    }

    private static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        int middle = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }

    private static void print(String line) {
        System.out.println(line);
    }
}
