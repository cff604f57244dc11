package trigon.integration.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import trigon.integration.testsupport.HostProgram;
import trigon.report.summary.Report;
import trigon.testsupport.Await;

/**
 * Ranks of the C host with a trace, each in a process, whose all-reduces something makes slow. Closing ends them.
 *
 * <p>What is planted has to be large against what a busy machine does by itself, so {@link #isBlamed} plants more until
 * it is, at most three times.
 */
final class PlantedRun implements AutoCloseable {

    /** A run in which the cause is so many times as large as it is at first. */
    @FunctionalInterface
    interface Plant {
        Report run(int times) throws Exception;
    }

    private static final Duration DEADLINE = Duration.ofSeconds(100);

    private final Path directory;
    private final int ranks;
    private final List<HostProgram> hosts = new ArrayList<>();

    PlantedRun(Path parent, int ranks) {
        this.ranks = ranks;
        try {
            directory = Files.createTempDirectory(parent, "run");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The verdict begins so, for example with "transport on 0→1". */
    static Report isBlamed(String whom, Plant plant) throws Exception {
        List<String> verdicts = new ArrayList<>();
        for (int times = 1; times <= 16; times *= 4) {
            Report report = plant.run(times);
            verdicts.add(report.verdict());
            if (report.verdict().matches("\\d+ % of the time was " + whom + ".*")) {
                return report;
            }
        }
        throw new AssertionError(whom + " is not blamed, but: " + verdicts);
    }

    /**
     * Starts the next rank.
     *
     * @param by what goes before the command
     */
    HostProgram start(List<String> by, Map<String, String> more, String... arguments) {
        int rank = hosts.size();
        List<String> all = new ArrayList<>(List.of(arguments));
        all.addAll(List.of("--rank", Integer.toString(rank), "--ranks", Integer.toString(ranks)));
        all.addAll(List.of("--rendezvous", directory.resolve("rendezvous").toString()));
        Map<String, String> environment = new HashMap<>(more);
        environment.put("RANK", Integer.toString(rank));
        environment.put("TRIGON_LINKS", "software");
        environment.put("TRIGON_TRACE", trace().toString());
        HostProgram host =
                new HostProgram(by, HostProgram.distribution(), output(rank), environment, all.toArray(String[]::new));
        hosts.add(host);
        return host;
    }

    /** The same, with all-reduces until {@link #until} is there. */
    void startEndless(List<String> by, Map<String, String> more) {
        start(
                by,
                more,
                "--bytes",
                "65536",
                "--iterations",
                "1000000",
                "--until",
                until().toString(),
                "--timeout",
                "100");
    }

    private Path output(int rank) {
        return directory.resolve("output." + rank);
    }

    /** Where the traces are. */
    Path trace() {
        return directory.resolve("trace");
    }

    /** A file that is not there yet, for {@code --until}. */
    Path until() {
        return directory.resolve("until");
    }

    List<HostProgram> hosts() {
        return hosts;
    }

    /** Waits until the traces have so many bytes: the ranks are at work. */
    void awaitTrace(long bytes) {
        Await.until(() -> hosts.getFirst().output(), DEADLINE, () -> traced() >= bytes);
    }

    /** Waits until one of the ranks says that. */
    void awaitOutput(String text) {
        Await.until(
                () -> text + " in: " + hosts.getFirst().output(),
                DEADLINE,
                () -> hosts.stream().anyMatch(host -> host.output().contains(text)));
    }

    private long traced() {
        if (!Files.isDirectory(trace())) {
            return 0;
        }
        long sum = 0;
        try (var files = Files.list(trace())) {
            for (Path file : files.toList()) {
                sum += Files.size(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return sum;
    }

    /** Waits for the end of all ranks, which have to succeed, and returns what the traces tell. */
    Report report() {
        hosts.forEach(host -> assertThat(host.exitStatus()).as(host.output()).isZero());
        Report report = Report.of(List.of(trace()));
        assertThat(report.run().problems()).isEmpty();
        return report;
    }

    @Override
    public void close() {
        hosts.forEach(HostProgram::close);
    }
}
