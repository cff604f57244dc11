package trigon.tools.bench;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import trigon.routing.LocalLink;
import trigon.tools.console.CommandFailure;
import trigon.tools.machine.NcclHost;

/**
 * Runs perftest's {@code ib_write_lat} and {@code ib_write_bw} over the device that Trigon used, to show what the link
 * does without it. The first rank waits for the other one's program. One thread.
 */
final class Perftest {

    /** perftest counts megabytes of 2^20 bytes. */
    private static final double MEBIBYTE = 1 << 20;

    /** Places in the line of the result. */
    private static final int TYPICAL_MICROS = 4;

    private static final int AVERAGE_MEGABYTES = 3;

    private static final Duration BETWEEN_ATTEMPTS = Duration.ofMillis(200);
    private static final int LINES_OF_A_FAILURE = 4;

    /**
     * Figures of one size, as in JSON under {@code perftest}.
     *
     * @param ranks the two
     * @param latencyMicros half of a round trip, typically; empty if the program says it at the other end only
     * @param gigabytesPerSecond in one direction; empty likewise
     */
    record Figures(
            List<Integer> ranks, long bytes, Optional<Double> latencyMicros, Optional<Double> gigabytesPerSecond) {

        /** Adds the other end's figures of the same ranks and size. */
        Figures completed(List<Figures> others) {
            return new Figures(
                    ranks,
                    bytes,
                    latencyMicros.or(() -> first(others, Figures::latencyMicros)),
                    gigabytesPerSecond.or(() -> first(others, Figures::gigabytesPerSecond)));
        }

        private Optional<Double> first(List<Figures> others, Function<Figures, Optional<Double>> figure) {
            return others.stream()
                    .filter(each -> each.bytes == bytes && each.ranks.equals(ranks))
                    .flatMap(each -> figure.apply(each).stream())
                    .findFirst();
        }
    }

    private final Path latency;
    private final Path bandwidth;
    private final Map<String, String> environment;
    private final Path output;
    private final int timeoutSeconds;
    private final StepPrograms programs;

    /**
     * Finds the programs on the {@code PATH} of that environment.
     *
     * @param folder for their output
     * @param timeoutSeconds for each of them
     */
    Perftest(Map<String, String> environment, Path folder, int timeoutSeconds, StepPrograms programs) {
        this.environment = environment;
        this.output = folder.resolve("perftest.txt");
        this.timeoutSeconds = timeoutSeconds;
        this.programs = programs;
        latency = found("ib_write_lat");
        bandwidth = found("ib_write_bw");
    }

    private Path found(String program) {
        return Arrays.stream(environment.getOrDefault("PATH", "").split(File.pathSeparator))
                .filter(directory -> !directory.isEmpty())
                .map(directory -> Path.of(directory, program))
                .filter(Files::isExecutable)
                .findFirst()
                .orElseThrow(() -> new CommandFailure("--perftest needs " + program
                        + ", which is not on the PATH: install the package perftest, on all nodes"));
    }

    /**
     * Runs both.
     *
     * @param server address of the other rank's programs, which wait; empty if this one's are to wait
     * @param port the one that they meet at; the next one is used, too
     * @throws CommandFailure if one fails, or the other end's does not come in time
     */
    Figures measure(LocalLink link, BenchStep step, Optional<String> server, int port)
            throws IOException, InterruptedException {
        List<String> options = List.of("-d %s -i %d -x %d -s %d -n %d -F"
                .formatted(link.deviceName(), link.port(), link.gidIndex(), step.bytes(), step.rounds())
                .split(" ", -1));
        return new Figures(
                step.ranks(),
                step.bytes(),
                figure(run(latency, options, server, port), step.bytes(), TYPICAL_MICROS),
                figure(run(bandwidth, options, server, port + 1), step.bytes(), AVERAGE_MEGABYTES)
                        .map(megabytes -> megabytes * MEBIBYTE / 1e9));
    }

    /** Finds the result, the line that begins with the size. */
    private static Optional<Double> figure(String said, long bytes, int place) {
        return said.lines()
                .map(line -> line.strip().split("\\s+"))
                .filter(words -> words.length > place && words[0].equals(Long.toString(bytes)))
                .map(words -> Double.valueOf(words[place]))
                .findFirst();
    }

    private String run(Path program, List<String> options, Optional<String> server, int port)
            throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(program.toString()));
        command.addAll(options);
        command.addAll(List.of("-p", Integer.toString(port)));
        server.ifPresent(command::add);
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(timeoutSeconds);
        while (!succeeds(command, deadline)) {
            // it does not wait for a server that is not there yet
            if (server.isEmpty() || programs.isStopped() || System.nanoTime() - deadline >= 0) {
                throw new CommandFailure(
                        "%s failed, or the other end's did not come within %d s; the end of its output:%n%s"
                                .formatted(
                                        String.join(" ", command),
                                        timeoutSeconds,
                                        NcclHost.end(output, LINES_OF_A_FAILURE)));
            }
            Thread.sleep(BETWEEN_ATTEMPTS);
        }
        return Files.readString(output);
    }

    private boolean succeeds(List<String> command, long deadline) throws IOException, InterruptedException {
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().clear();
        builder.environment().putAll(environment);
        Process process = builder.redirectInput(new File("/dev/null"))
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        programs.add(process);
        try {
            return process.waitFor(deadline - System.nanoTime(), TimeUnit.NANOSECONDS) && process.exitValue() == 0;
        } finally {
            programs.finish();
        }
    }
}
