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
import java.util.OptionalDouble;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import trigon.cluster.json.JsonObject;
import trigon.routing.LocalLink;
import trigon.tools.console.CommandFailure;

/**
 * perftest's {@code ib_write_lat} and {@code ib_write_bw} over the device that Trigon used: what the link does without
 * it. The first rank waits for the other one's program. One thread, but for {@link #stop()}.
 */
final class Perftest {

    private static final String LATENCY = "ib_write_lat";
    private static final String BANDWIDTH = "ib_write_bw";
    private static final String LATENCY_MICROS = "latencyMicros";
    private static final String BANDWIDTH_GIGABYTES = "gigabytesPerSecond";

    /** perftest counts megabytes of 2^20 bytes. */
    private static final double MEBIBYTE = 1 << 20;

    /** Places in the line of the result. */
    private static final int TYPICAL_MICROS = 4;

    private static final int AVERAGE_MEGABYTES = 3;

    private static final Duration BETWEEN_ATTEMPTS = Duration.ofMillis(200);
    private static final int LINES_OF_A_FAILURE = 4;

    /**
     * Of one size, as in JSON under {@code perftest}.
     *
     * @param ranks the two
     * @param latencyMicros half of a round trip, typically; empty if the program says it at the other end only
     * @param gigabytesPerSecond in one direction; empty likewise
     */
    record Figures(List<Integer> ranks, long bytes, OptionalDouble latencyMicros, OptionalDouble gigabytesPerSecond) {

        Figures {
            ranks = List.copyOf(ranks);
        }

        /** With what these say of the same ranks and size, where this has nothing. */
        Figures completed(List<JsonObject> others) {
            List<JsonObject> same = others.stream()
                    .filter(each -> each.whole("bytes") == bytes && ranks.equals(wholes(each, "ranks")))
                    .toList();
            return new Figures(
                    ranks,
                    bytes,
                    or(latencyMicros, same, LATENCY_MICROS),
                    or(gigabytesPerSecond, same, BANDWIDTH_GIGABYTES));
        }

        private static List<Integer> wholes(JsonObject object, String name) {
            return object.values().get(name) instanceof List<?> list
                    ? list.stream()
                            .filter(Number.class::isInstance)
                            .map(each -> ((Number) each).intValue())
                            .toList()
                    : List.of();
        }

        private static OptionalDouble or(OptionalDouble own, List<JsonObject> others, String name) {
            return own.isPresent()
                    ? own
                    : others.stream()
                            .map(each -> each.values().get(name))
                            .filter(Number.class::isInstance)
                            .mapToDouble(each -> ((Number) each).doubleValue())
                            .findFirst();
        }
    }

    private final Path latency;
    private final Path bandwidth;
    private final Map<String, String> environment;
    private final Path folder;
    private final int timeoutSeconds;
    private volatile @Nullable Process running;
    private volatile boolean stopped;

    /**
     * Found on the {@code PATH} of that environment.
     *
     * @param folder for their output
     * @param timeoutSeconds for each of them
     */
    Perftest(Map<String, String> environment, Path folder, int timeoutSeconds) {
        this.environment = environment;
        this.folder = folder;
        this.timeoutSeconds = timeoutSeconds;
        latency = found(LATENCY);
        bandwidth = found(BANDWIDTH);
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
     * @param server where the other rank's programs wait, by TCP; empty if this one's are to wait
     * @param port the one that they meet at; the next one is used, too
     * @throws CommandFailure if one fails, or the other end's does not come in time
     */
    Figures measure(LocalLink link, BenchStep step, Optional<String> server, int port)
            throws IOException, InterruptedException {
        List<String> of = List.of("-d %s -i %d -x %d -s %d -n %d -F"
                .formatted(link.deviceName(), link.port(), link.gidIndex(), step.bytes(), step.rounds())
                .split(" ", -1));
        return new Figures(
                step.ranks(),
                step.bytes(),
                figure(run(latency, of, server, port), step.bytes(), TYPICAL_MICROS),
                scaled(figure(run(bandwidth, of, server, port + 1), step.bytes(), AVERAGE_MEGABYTES)));
    }

    private static OptionalDouble scaled(OptionalDouble megabytes) {
        return megabytes.isPresent() ? OptionalDouble.of(megabytes.getAsDouble() * MEBIBYTE / 1e9) : megabytes;
    }

    /** The result is the line that begins with the size. */
    static OptionalDouble figure(String output, long bytes, int place) {
        return output.lines()
                .map(line -> line.strip().split("\\s+"))
                .filter(words -> words.length > place && words[0].equals(Long.toString(bytes)))
                .flatMapToDouble(words -> Arrays.stream(words, place, place + 1).mapToDouble(Double::parseDouble))
                .findFirst();
    }

    private String run(Path program, List<String> options, Optional<String> server, int port)
            throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(program.toString()));
        command.addAll(options);
        command.addAll(List.of("-p", Integer.toString(port)));
        server.ifPresent(command::add);
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(timeoutSeconds);
        while (true) {
            Path output = folder.resolve("perftest.txt");
            boolean succeeded = succeeds(command, output, deadline);
            String said = Files.readString(output);
            if (succeeded) {
                return said;
            }
            // it does not wait for a server that is not there yet
            if (server.isEmpty() || stopped || System.nanoTime() - deadline >= 0) {
                throw new CommandFailure(
                        ("%s failed, or the other end's did not come within %d s; the end of its" + " output:%n%s")
                                .formatted(String.join(" ", command), timeoutSeconds, end(said)));
            }
            Thread.sleep(BETWEEN_ATTEMPTS);
        }
    }

    private boolean succeeds(List<String> command, Path output, long deadline)
            throws IOException, InterruptedException {
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().clear();
        builder.environment().putAll(environment);
        Process process = builder.redirectInput(ProcessBuilder.Redirect.from(new File("/dev/null")))
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        running = process;
        if (stopped) {
            process.destroyForcibly();
        }
        try {
            return process.waitFor(deadline - System.nanoTime(), TimeUnit.NANOSECONDS) && process.exitValue() == 0;
        } finally {
            process.destroyForcibly();
        }
    }

    /** Begins a step, in which it is not yet stopped. */
    void begin() {
        stopped = false;
    }

    /** Ends what runs in the current step, and all that would, with a failure. By any thread. */
    void stop() {
        stopped = true;
        Process now = running;
        if (now != null) {
            now.destroyForcibly();
        }
    }

    private static String end(String said) {
        List<String> lines = said.lines().toList();
        return String.join("\n", lines.subList(Math.max(0, lines.size() - LINES_OF_A_FAILURE), lines.size()));
    }
}
