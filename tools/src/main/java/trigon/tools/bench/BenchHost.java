package trigon.tools.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import trigon.cluster.json.JsonObject;
import trigon.cluster.machine.Machine;
import trigon.tools.bench.Measurement.Kind;
import trigon.tools.console.CommandFailure;
import trigon.tools.machine.NcclHost;

/**
 * The distribution's nccl-host, a C program that calls the plugin as NCCL does: a process for each rank of this machine
 * and each size. One thread, but for {@link #stop()}.
 */
final class BenchHost {

    /** Failovers are ways, too: what was measured then is not what the link can do. */
    private static final Pattern LINK =
            Pattern.compile("sends to .*|the connection (?:to|from) \\S+ .*(?:goes on over|returns to) .*");

    private static final int LINES_OF_A_FAILURE = 6;

    /** In addition to the deadline that the processes have themselves. */
    private static final long GRACE_SECONDS = 30;

    /** Exit status of a process that SIGKILL ended. */
    private static final int KILLED = 128 + 9;

    private final NcclHost host;
    private final Map<String, String> environment;
    private final Path folder;
    private final int timeoutSeconds;
    private List<String> lastWays = List.of();
    private final Set<Process> running = ConcurrentHashMap.newKeySet();
    private volatile boolean stopped;
    private boolean killed;

    /**
     * Of that machine's distribution.
     *
     * @param folder for logs
     * @param timeoutSeconds for every wait, among them the one for other nodes
     */
    BenchHost(Machine machine, Map<String, String> environment, Path folder, int timeoutSeconds) {
        this.host = NcclHost.of(machine, "bench");
        this.environment = environment;
        this.folder = folder;
        this.timeoutSeconds = timeoutSeconds;
    }

    /**
     * Measures one size; returns what the first of the ranks of this machine says.
     *
     * @param here places in the list of the ranks that take part, of those that are on this machine
     * @param meeting where they meet
     */
    Measurement measure(BenchStep step, List<Integer> here, String meeting) throws IOException, InterruptedException {
        List<Process> processes = new ArrayList<>();
        try {
            for (int place : here) {
                processes.add(start(step, place, meeting));
            }
            for (int i = 0; i < here.size(); i++) {
                boolean ended = processes.get(i).waitFor(timeoutSeconds + GRACE_SECONDS, TimeUnit.SECONDS);
                if (!ended || processes.get(i).exitValue() != 0) {
                    killed = ended && stopped && processes.get(i).exitValue() == KILLED;
                    throw new CommandFailure("%s of %d bytes failed on rank %d; the end of its log:%n%s"
                            .formatted(
                                    step.kind(),
                                    step.bytes(),
                                    step.ranks().get(here.get(i)),
                                    NcclHost.end(log(here.get(i)), LINES_OF_A_FAILURE)));
                }
            }
        } finally {
            processes.forEach(Process::destroyForcibly);
            running.clear();
        }
        lastWays = ways(log(here.getFirst()));
        return result(step.kind(), step.ranks(), step.bytes(), Files.readString(output(here.getFirst())));
    }

    /** The plugin's lines about the paths of the last measurement, such as over which link. */
    List<String> lastWays() {
        return lastWays;
    }

    /** Begins a step, in which it is not yet stopped. */
    void begin() {
        stopped = false;
        killed = false;
    }

    /** Tells whether the current step failed by {@link #stop} alone. */
    boolean isKilled() {
        return killed;
    }

    /** Ends the current step with a failure. By any thread. */
    void stop() {
        stopped = true;
        running.forEach(Process::destroyForcibly);
    }

    private Process start(BenchStep step, int place, String meeting) throws IOException {
        long reduced = step.kind() == Kind.POINT_TO_POINT ? 2 * step.bytes() : step.bytes();
        String options = "--rank %d --ranks %d --bytes %d --iterations %d --warmup %d --timeout %d --print-rounds"
                .formatted(
                        place,
                        step.ranks().size(),
                        reduced,
                        step.rounds(),
                        Math.max(1, step.rounds() / 5),
                        timeoutSeconds);
        List<String> words = new ArrayList<>(List.of("--rendezvous", meeting));
        words.addAll(List.of(options.split(" ", -1)));
        Map<String, String> all = new HashMap<>(environment);
        all.put("NCCL_DEBUG", "INFO");
        Process process = host.start(List.of(), words, all, output(place), log(place));
        running.add(process);
        if (stopped) {
            process.destroyForcibly();
        }
        return process;
    }

    private Path output(int place) {
        return folder.resolve("rank-" + place + ".json");
    }

    private Path log(int place) {
        return folder.resolve("rank-" + place + ".log");
    }

    private static List<String> ways(Path log) throws IOException {
        return LINK.matcher(Files.readString(log))
                .results()
                .map(way -> way.group().strip())
                .distinct()
                .toList();
    }

    static Measurement result(Kind kind, List<Integer> ranks, long bytes, String output) {
        String line = output.lines()
                .filter(each -> each.startsWith("{"))
                .findFirst()
                .orElseThrow(() -> new CommandFailure("nccl-host has said nothing"));
        JsonObject said = JsonObject.parse(line);
        List<Double> rounds = new ArrayList<>();
        if (said.values().get("round_us") instanceof List<?> list) {
            list.stream()
                    .filter(Number.class::isInstance)
                    .map(each -> ((Number) each).doubleValue())
                    .sorted()
                    .forEach(rounds::add);
        }
        if (rounds.isEmpty()) {
            throw new CommandFailure("nccl-host has measured nothing");
        }
        return new Measurement(kind, ranks, bytes, rounds.size(), rounds.get(rounds.size() / 2), said.whole("wrong"));
    }
}
