package trigon.tools.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import trigon.routing.LocalLink;
import trigon.tools.bench.Measurement.Kind;
import trigon.tools.console.CommandFailure;
import trigon.tools.console.Console;
import trigon.tools.console.Json;
import trigon.tools.console.Style;
import trigon.tools.console.Table;
import trigon.tools.machine.Machine;
import trigon.tools.machine.MachineLinks;
import trigon.verbs.LinkKind;

/** {@code trigon bench}: messages and all-reduces through the real plugin, size by size. */
@Command(
        name = "bench",
        description = {
            "How fast messages and all-reduces are, size by size, through the real plugin and its C interface, without"
                    + " GPUs; every element is checked.",
            "Alone it runs all ranks on this machine. Between nodes, start it on each at the same time, with the same"
                    + " options but for --rank: trigon bench --meet 10.0.0.1:7000 --ranks 2 --rank 0"
        })
public final class BenchCommand implements Callable<Integer> {

    private static final Pattern MEETING = Pattern.compile("(.+):(\\d{1,5})");
    private static final int MOST_RANKS = 64;
    private static final int MOST_LOCAL_RANKS = 8;
    private static final int LAST_PORT = 65_535;

    /** One for Trigon, and one for each of perftest's programs. */
    private static final int PORTS_OF_A_STEP = 3;

    /** So that each size takes about the same time. */
    private static final long BYTES_OF_A_SIZE = 64L << 20;

    private static final int LEAST_ROUNDS = 5;
    private static final int MOST_ROUNDS = 100;

    private final Machine machine;
    private final Console console;

    @Spec
    private CommandSpec spec;

    @Option(names = "--ranks", paramLabel = "N", description = "How many ranks; between nodes, one on each. Default: 2")
    private int ranks = 2;

    @Option(
            names = "--meet",
            paramLabel = "HOST:PORT",
            description = "Where rank 0 listens, an address of its own; the ports that follow are used, too.")
    private String meet = "";

    @Option(names = "--rank", paramLabel = "R", description = "With --meet, which rank this is, from 0.")
    private int rank = -1;

    @Option(
            names = "--sizes",
            split = ",",
            paramLabel = "SIZE",
            description = "Bytes, with K, M or G; multiples of 4 up to 1G. Default: 4K,64K,1M,16M")
    private List<String> sizes = List.of("4K", "64K", "1M", "16M");

    @Option(names = "--timeout", paramLabel = "S", description = "Seconds for each wait, also for others. Default: 120")
    private int timeout = 120;

    @Option(
            names = "--perftest",
            description = "Between nodes: perftest's ib_write_lat and ib_write_bw over the same RDMA link as well.")
    private boolean perftest;

    @Option(names = "--svg", paramLabel = "FILE", description = "A plot of the bandwidths.")
    private Optional<Path> svg = Optional.empty();

    @Option(names = "--json", description = "The result as JSON, schema trigon.bench/1.")
    private boolean json;

    /** Of that machine. */
    public BenchCommand(Machine machine, Console console) {
        this.machine = machine;
        this.console = console;
        this.spec = CommandSpec.create(); // until picocli has set it
    }

    /** One size, and who takes part. */
    private record Step(Kind kind, List<Integer> ranks, long bytes) {}

    @Override
    public Integer call() throws IOException, InterruptedException {
        boolean alone = meet.isEmpty();
        List<Step> steps = steps(check(alone));
        Path folder = Files.createTempDirectory("trigon-bench");
        try {
            BenchHost host = new BenchHost(machine, environment(alone), folder, timeout);
            Optional<Perftest> without =
                    perftest ? Optional.of(new Perftest(machine.environment(), folder, timeout)) : Optional.empty();
            List<Measurement> measured = new ArrayList<>();
            List<Perftest.Figures> figures = new ArrayList<>();
            for (int i = 0; i < steps.size(); i++) {
                Step step = steps.get(i);
                List<Integer> here = alone
                        ? IntStream.range(0, step.ranks().size()).boxed().toList()
                        : Stream.of(step.ranks().indexOf(rank))
                                .filter(place -> place >= 0)
                                .toList();
                if (here.isEmpty()) {
                    continue;
                }
                console.doing(
                        "%s of %s, %d of %d".formatted(step.kind(), Sizes.text(step.bytes()), i + 1, steps.size()));
                String meeting = alone ? folder.resolve("meeting-" + i).toString() : meeting(i);
                if (alone) {
                    Files.createDirectory(Path.of(meeting));
                }
                int rounds = Math.clamp(BYTES_OF_A_SIZE / step.bytes(), LEAST_ROUNDS, MOST_ROUNDS);
                measured.add(host.measure(step.kind(), step.ranks(), here, step.bytes(), rounds, meeting));
                if (without.isPresent() && step.kind() == Kind.POINT_TO_POINT) {
                    figures.add(withoutTrigon(without.get(), step, rounds, host.lastLinks(), steps.size() + 2 * i));
                }
            }
            console.done();
            return show(alone, measured, figures, host.ways());
        } finally {
            console.done();
            try (Stream<Path> files = Files.walk(folder)) {
                for (Path each : files.sorted(Comparator.reverseOrder()).toList()) {
                    Files.deleteIfExists(each);
                }
            }
        }
    }

    /** Over the RDMA link of these that Trigon has just used. */
    private Perftest.Figures withoutTrigon(Perftest programs, Step step, int rounds, Set<String> used, int port)
            throws IOException, InterruptedException {
        LocalLink link = MachineLinks.of(machine).discovered().links().stream()
                .filter(each -> each.kind() == LinkKind.RDMA && used.contains(each.name()))
                .findFirst()
                .orElseThrow(() -> new CommandFailure("--perftest: Trigon used " + String.join(", ", used)
                        + ", which is no RDMA link; \"trigon links\" says which there are"));
        Matcher matcher = MEETING.matcher(meeting(port));
        if (!matcher.matches()) {
            throw new IllegalStateException(meet);
        }
        Optional<String> server = rank == 0 ? Optional.empty() : Optional.of(matcher.group(1));
        return programs.measure(link, step.ranks(), step.bytes(), rounds, server, Integer.parseInt(matcher.group(2)));
    }

    private List<Long> check(boolean alone) {
        if (perftest && alone) {
            throw wrong("--perftest goes with --meet: on one machine there is no link to try");
        }
        if (ranks < 2 || ranks > (alone ? MOST_LOCAL_RANKS : MOST_RANKS)) {
            throw wrong("--ranks is " + ranks + ": must be 2 to " + (alone ? MOST_LOCAL_RANKS : MOST_RANKS));
        }
        if (alone != (rank < 0)) {
            throw wrong("--meet and --rank belong together: where the nodes meet, and which of them this is");
        }
        if (!alone && rank >= ranks) {
            throw wrong("--rank is " + rank + ": must be 0 to " + (ranks - 1));
        }
        if (timeout < 1 || timeout > 86_000) {
            throw wrong("--timeout is " + timeout + ": must be 1 to 86000");
        }
        List<Long> bytes = new ArrayList<>();
        for (String size : sizes) {
            bytes.add(Sizes.parse(size)
                    .orElseThrow(() -> wrong("--sizes has \"" + size + "\": must be a multiple of 4 bytes, 4 to 1G")));
        }
        Matcher matcher = MEETING.matcher(meet);
        if (!alone
                && (!matcher.matches()
                        || Integer.parseInt(matcher.group(2))
                                        + PORTS_OF_A_STEP * steps(bytes).size()
                                > LAST_PORT)) {
            throw wrong("--meet is \"" + meet + "\": must be HOST:PORT, with some free ports from that one on");
        }
        return bytes;
    }

    private ParameterException wrong(String message) {
        return new ParameterException(spec.commandLine(), message);
    }

    private List<Step> steps(List<Long> bytes) {
        List<Step> steps = new ArrayList<>();
        int others = meet.isEmpty() ? 2 : ranks;
        for (int other = 1; other < others; other++) {
            for (long size : bytes) {
                steps.add(new Step(Kind.POINT_TO_POINT, List.of(0, other), size));
            }
        }
        for (long size : bytes) {
            steps.add(
                    new Step(Kind.ALL_REDUCE, IntStream.range(0, ranks).boxed().toList(), size));
        }
        return steps;
    }

    /** Each size has a port of its own, so that nobody meets those of another. */
    private String meeting(int step) {
        Matcher matcher = MEETING.matcher(meet);
        return matcher.matches() ? matcher.group(1) + ":" + (Integer.parseInt(matcher.group(2)) + step) : meet;
    }

    /** Tells the plugin, as a launcher would, that all ranks are here; the loopback may be used then. */
    private Map<String, String> environment(boolean alone) {
        Map<String, String> environment = new HashMap<>(machine.environment());
        if (alone) {
            environment.put("WORLD_SIZE", Integer.toString(ranks));
            environment.put("LOCAL_WORLD_SIZE", Integer.toString(ranks));
        }
        return environment;
    }

    private int show(boolean alone, List<Measurement> measured, List<Perftest.Figures> figures, Set<String> ways)
            throws IOException {
        Promise promise = Promise.of(
                measured,
                alone,
                alone ? List.of() : MachineLinks.of(machine).discovered().links(),
                BenchHost.links(ways));
        if (svg.isPresent()) {
            Files.writeString(svg.get(), new BenchPlot(measured).svg("trigon bench on " + machine.hostName()));
        }
        if (json) {
            console.out().print(Json.text(json(measured, figures, ways, promise)));
            return promise.good() ? 0 : 1;
        }
        Table table = new Table("test", "ranks", "size", "rounds", "us", "GB/s");
        for (Measurement each : measured) {
            table.row(
                    each.kind().toString(),
                    each.kind() == Kind.POINT_TO_POINT ? named(each.ranks()) : "all " + ranks,
                    Sizes.text(each.bytes()),
                    Integer.toString(each.rounds()),
                    String.format(Locale.ROOT, "%.1f", each.micros()),
                    String.format(Locale.ROOT, "%.3f", each.gigabytesPerSecond()));
        }
        table.print(console);
        console.out().println();
        if (!figures.isEmpty()) {
            print(figures);
        }
        ways.forEach(way -> Table.wrap(way, console.width()).forEach(console.out()::println));
        Table.wrap(
                        "us: median. Point to point: one message each way at the same time, GB/s of one direction."
                                + " All-reduce: bus bandwidth.",
                        console.width())
                .forEach(console.out()::println);
        Style style = promise.good() ? Style.GOOD : Style.BAD;
        Table.wrap(promise.text(), console.width())
                .forEach(line -> console.out().println(console.styled(style, line)));
        return promise.good() ? 0 : 1;
    }

    private void print(List<Perftest.Figures> figures) {
        Table table = new Table("without Trigon", "size", "ib_write_lat us", "ib_write_bw GB/s");
        for (Perftest.Figures each : figures) {
            table.row(
                    named(each.ranks()),
                    Sizes.text(each.bytes()),
                    number("%.1f", each.micros()),
                    number("%.3f", each.gigabytesPerSecond()));
        }
        table.print(console);
        console.out().println();
    }

    private static String number(String format, OptionalDouble number) {
        return number.isPresent() ? String.format(Locale.ROOT, format, number.getAsDouble()) : "at the other end";
    }

    private static String named(List<Integer> pair) {
        return pair.getFirst() + " and " + pair.getLast();
    }

    private Map<String, Object> json(
            List<Measurement> measured, List<Perftest.Figures> figures, Set<String> ways, Promise promise) {
        return Json.object(
                "schema",
                "trigon.bench/1",
                "version",
                machine.version(),
                "host",
                machine.hostName(),
                "good",
                promise.good(),
                "verdict",
                promise.text(),
                "shareOfSpeed",
                promise.share(),
                "ways",
                List.copyOf(ways),
                "perftest",
                figures.stream()
                        .map(each -> Json.object(
                                "ranks",
                                each.ranks(),
                                "bytes",
                                each.bytes(),
                                "latencyMicros",
                                boxed(each.micros()),
                                "gigabytesPerSecond",
                                boxed(each.gigabytesPerSecond())))
                        .toList(),
                "measurements",
                measured.stream()
                        .map(each -> Json.object(
                                "test",
                                each.kind().toString(),
                                "ranks",
                                each.ranks(),
                                "bytes",
                                each.bytes(),
                                "rounds",
                                each.rounds(),
                                "medianMicros",
                                each.micros(),
                                "gigabytesPerSecond",
                                each.gigabytesPerSecond(),
                                "wrong",
                                each.wrong()))
                        .toList());
    }

    private static Optional<Double> boxed(OptionalDouble number) {
        return number.isPresent() ? Optional.of(number.getAsDouble()) : Optional.empty();
    }
}
