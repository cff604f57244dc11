package trigon.integration.testsupport;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import trigon.testsupport.Await;

/**
 * One run of the C host that plays NCCL, in a child process. Its output goes to files; closing ends it.
 *
 * <p>The environment holds nothing of the surrounding one that concerns Trigon, NCCL or Java.
 */
public final class HostProgram implements AutoCloseable {

    /** For ranks that live for seconds: the second compiler would take most of them, and of the processors. */
    public static final Map<String, String> QUICK_START = Map.of("TRIGON_JAVA_OPTS", "-XX:TieredStopAtLevel=1");

    private static final long DEADLINE_SECONDS = 180;

    private final Process process;
    private final Path output;

    /**
     * Starts it.
     *
     * @param distribution whose plugin and host program are used
     * @param output where standard output and error go
     */
    public HostProgram(Path distribution, Path output, Map<String, String> environment, String... arguments) {
        this(List.of(), distribution, output, environment, arguments);
    }

    /**
     * Starts it by another program.
     *
     * @param by the other program and its arguments, which the host's follow
     */
    public HostProgram(
            List<String> by, Path distribution, Path output, Map<String, String> environment, String... arguments) {
        this(host(by, distribution, arguments), output, environment);
    }

    private HostProgram(List<String> command, Path output, Map<String, String> environment) {
        this.output = output;
        ProcessBuilder builder = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .redirectInput(Path.of("/dev/null").toFile());
        builder.environment()
                .keySet()
                .removeIf(name -> name.startsWith("TRIGON_") || name.startsWith("NCCL_") || name.contains("JAVA"));
        builder.environment().put("NCCL_DEBUG", "INFO");
        builder.environment().putAll(environment);
        try {
            process = builder.start();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot start " + command, e);
        }
    }

    private static List<String> host(List<String> by, Path distribution, String... arguments) {
        List<String> command = new ArrayList<>(by);
        command.add(distribution.resolve("libexec/nccl-host").toString());
        command.add("--plugin");
        command.add(distribution.resolve("lib/libnccl-net-trigon.so").toString());
        command.addAll(List.of(arguments));
        return command;
    }

    /** The one that makes the calls of one-sided communication instead, which is not in the distribution. */
    public static HostProgram oneSided(
            List<String> by, Path output, Map<String, String> environment, String... arguments) {
        List<String> command = new ArrayList<>(by);
        command.add(Path.of(System.getProperty("trigon.odd.host"))
                .resolveSibling("one-sided-host")
                .toString());
        command.addAll(List.of(
                "--plugin", distribution().resolve("lib/libnccl-net-trigon.so").toString()));
        command.addAll(List.of(arguments));
        return new HostProgram(command, output, environment);
    }

    /** One that nobody tells which plugin it is: NCCL's files do, of the home folder that HOME names. */
    public static HostProgram enabled(Map<String, String> environment, Path output, String... arguments) {
        List<String> command = new ArrayList<>();
        command.add(distribution().resolve("libexec/nccl-host").toString());
        command.addAll(List.of(arguments));
        return new HostProgram(command, output, environment);
    }

    /** The folder with the librccl.so.1 that {@code --as rccl-...} needs, which is not in the distribution. */
    public static Path fakeRccl() {
        return Path.of(System.getProperty("trigon.odd.host")).resolveSibling("fake-rccl");
    }

    /** {@code trigon relay} instead. */
    public static HostProgram relay(List<String> by, Path output, Map<String, String> environment) {
        List<String> command = new ArrayList<>(by);
        command.addAll(List.of(distribution().resolve("bin/trigon").toString(), "relay"));
        return new HostProgram(command, output, environment);
    }

    /** The distribution that the build made. */
    public static Path distribution() {
        return Path.of(System.getProperty("trigon.distribution"));
    }

    /** Waits for its end and returns the exit status. */
    public int exitStatus() {
        try {
            if (!process.waitFor(DEADLINE_SECONDS, TimeUnit.SECONDS)) {
                throw new AssertionError("the host program did not end within " + DEADLINE_SECONDS + " s: " + output());
            }
            return process.exitValue();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted", e);
        }
    }

    /** What it has printed so far, if that goes to a file. */
    public String output() {
        if (!Files.isRegularFile(output)) {
            return "(printed to " + output + ")";
        }
        try {
            return Files.readString(output, StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Waits until it has printed that.
     *
     * @throws AssertionError with what it has printed, if it ends before, or does not print that
     */
    public void awaitOutput(String text) {
        awaitOutput(output -> output.contains(text), text);
    }

    /** The same, for what matches somewhere. */
    public void awaitOutput(Pattern pattern) {
        awaitOutput(pattern.asPredicate(), pattern.pattern());
    }

    /** The same, for what is true of all that it has printed. */
    public void awaitOutput(Predicate<String> condition, String what) {
        Await.until(() -> what + " in: " + output(), Duration.ofSeconds(DEADLINE_SECONDS), () -> {
            boolean wasAlive = isAlive(); // before the look, so that its last words count
            boolean holds = condition.test(output());
            assertThat(holds || wasAlive)
                    .as("%s by a program that has ended: %s", what, output())
                    .isTrue();
            return holds;
        });
    }

    /** Sends it a signal, such as {@code STOP}. */
    public void signal(String name) {
        try {
            Process kill = new ProcessBuilder("kill", "-" + name, Long.toString(pid()))
                    .inheritIO()
                    .start();
            if (kill.waitFor() != 0) {
                throw new AssertionError("no signal " + name + " to process " + pid());
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted", e);
        }
    }

    public boolean isAlive() {
        return process.isAlive();
    }

    public long pid() {
        return process.pid();
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
