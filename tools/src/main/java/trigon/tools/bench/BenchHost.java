package trigon.tools.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import trigon.tools.bench.BenchStep.Kind;
import trigon.tools.console.CommandFailure;
import trigon.tools.machine.NcclHost;

/**
 * Runs nccl-host, a C program that calls the plugin as NCCL does: a process for each rank of this machine and each
 * size. One thread.
 */
final class BenchHost {

    /** Lines about paths. Failovers are among them: a measurement with one does not show what the link can do. */
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
    private final StepPrograms programs;
    private boolean killed;

    /**
     * @param home of the distribution
     * @param folder for logs
     * @param timeoutSeconds for every wait, among them the one for other nodes
     */
    BenchHost(Path home, Map<String, String> environment, Path folder, int timeoutSeconds, StepPrograms programs) {
        this.host = NcclHost.of(home);
        this.environment = new HashMap<>(environment);
        this.environment.put("NCCL_DEBUG", "INFO");
        this.folder = folder;
        this.timeoutSeconds = timeoutSeconds;
        this.programs = programs;
    }

    /**
     * Measures one size.
     *
     * @param here places in the list of the ranks that take part, of those that are on this machine
     * @param meeting their rendezvous
     * @return the output of the first of them
     */
    String measure(BenchStep step, List<Integer> here, String meeting) throws IOException, InterruptedException {
        killed = false;
        Map<Integer, Process> processes = new LinkedHashMap<>();
        try {
            for (int place : here) {
                processes.put(place, start(step, place, meeting));
            }
            for (Map.Entry<Integer, Process> each : processes.entrySet()) {
                Process process = each.getValue();
                boolean ended = process.waitFor(timeoutSeconds + GRACE_SECONDS, TimeUnit.SECONDS);
                if (!ended || process.exitValue() != 0) {
                    killed = ended && programs.isStopped() && process.exitValue() == KILLED;
                    throw new CommandFailure("%s of %d bytes failed on rank %d; the end of its log:%n%s"
                            .formatted(
                                    step.kind(),
                                    step.bytes(),
                                    step.ranks().get(each.getKey()),
                                    NcclHost.end(log(each.getKey()), LINES_OF_A_FAILURE)));
                }
            }
        } finally {
            programs.finish();
        }
        return Files.readString(output(here.getFirst()));
    }

    /** The plugin's lines about paths, in the log of the rank at that place. */
    List<String> ways(int place) throws IOException {
        return LINK.matcher(Files.readString(log(place)))
                .results()
                .map(way -> way.group().strip())
                .distinct()
                .toList();
    }

    /** Tells whether the last measurement failed by a stop alone. */
    boolean isKilled() {
        return killed;
    }

    private Process start(BenchStep step, int place, String meeting) throws IOException {
        long reduced = step.kind() == Kind.POINT_TO_POINT ? 2 * step.bytes() : step.bytes();
        String options =
                "--rank %d --ranks %d --bytes %d --channels %d --iterations %d --warmup %d --timeout %d --print-rounds"
                        .formatted(
                                place,
                                step.ranks().size(),
                                reduced,
                                step.channels(),
                                step.rounds(),
                                Math.max(1, step.rounds() / 5),
                                timeoutSeconds);
        List<String> words = new ArrayList<>(List.of("--rendezvous", meeting));
        words.addAll(List.of(options.split(" ", -1)));
        Process process = host.start(List.of(), words, environment, output(place), log(place));
        programs.add(process);
        return process;
    }

    private Path output(int place) {
        return folder.resolve("rank-" + place + ".json");
    }

    private Path log(int place) {
        return folder.resolve("rank-" + place + ".log");
    }
}
