package trigon.integration.hosts;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Runs programs that load the distribution's plugin, with software links on the loopback interface, each to its end.
 *
 * @param scratch for the files of a run
 * @param distribution whose plugin is loaded
 * @param by a program and its arguments that starts the host, or none
 * @param environment on top of this process's, which says nothing to Trigon, NCCL and Java
 */
record OddHost(Path scratch, Path distribution, List<String> by, Map<String, String> environment) {

    static final int ABORTED = 128 + 6;
    static final int SEGMENTATION_FAULT = 128 + 11;
    static final int BROKEN_PIPE = 128 + 13;

    private static final int DEADLINE_SECONDS = 150;
    /** A process that is short of memory or processors answers late. */
    private static final String NODES = """
            version: 1
            links: software
            handshake: {timeout: 60s}
            nodes:
              a: {nics: [{address: 127.0.12.1/24}]}
            """;

    OddHost {
        by = List.copyOf(by);
        environment = Map.copyOf(environment);
    }

    /** How a run ended; {@code exit} is 128 plus the number of a signal that ended it. */
    record End(int exit, String stdout, String stderr) {

        /** It succeeded, and standard output is as clean as the host left it. */
        End hasSucceeded() {
            assertThat(exit).as("exit status; stderr: %s", stderr).isZero();
            return hasCleanOutput();
        }

        /** It ended with this status. */
        End hasExited(int status) {
            assertThat(exit).as("exit status; stderr: %s", stderr).isEqualTo(status);
            return hasCleanOutput();
        }

        End hasCleanOutput() {
            assertThat(stdout).as("standard output").isEmpty();
            return this;
        }

        End hasSaid(String... texts) {
            assertThat(stderr).contains(texts);
            return this;
        }

        End hasNotSaid(String... texts) {
            assertThat(stderr).doesNotContain(texts);
            return this;
        }
    }

    /** With the distribution that the build made. */
    static OddHost in(Path scratch) {
        return new OddHost(scratch, Path.of(System.getProperty("trigon.distribution")), List.of(), Map.of());
    }

    OddHost with(String variable, String value) {
        Map<String, String> more = new HashMap<>(environment);
        more.put(variable, value);
        return new OddHost(scratch, distribution, by, more);
    }

    /** Started by another program. */
    OddHost by(String... program) {
        return new OddHost(scratch, distribution, List.of(program), environment);
    }

    Path plugin() {
        return distribution.resolve("lib/libnccl-net-trigon.so");
    }

    /** The JVM that the distribution brings. */
    Path libjvm() {
        return distribution.resolve("runtime/lib/server/libjvm.so");
    }

    /** Runs a case of {@code odd.c}. */
    End c(int api, String... arguments) {
        return run(
                List.of(System.getProperty("trigon.odd.host"), plugin().toString(), Integer.toString(api)), arguments);
    }

    /** Runs a case of {@code odd_host.py}; the test is skipped where there is no Python. */
    End python(String... arguments) {
        assumeThat(run(List.of("python3", "-c", "import ctypes")).exit())
                .as("exit status of python3 -c 'import ctypes'")
                .isZero();
        return run(List.of("python3", "src/test/python/odd_host.py", plugin().toString()), arguments);
    }

    /** Runs another program that knows nothing of the plugin, to see whether that is possible here. */
    End other(String... program) {
        return run(List.of(program));
    }

    private End run(List<String> program, String... arguments) {
        List<String> command = new ArrayList<>(by);
        command.addAll(program);
        command.addAll(List.of(arguments));
        try {
            Path nodes = Files.writeString(scratch.resolve("nodes.yaml"), NODES);
            Path stdout = Files.createTempFile(scratch, "stdout", ".txt");
            Path stderr = Files.createTempFile(scratch, "stderr", ".txt");
            ProcessBuilder builder = new ProcessBuilder(command)
                    .redirectInput(Path.of("/dev/null").toFile())
                    .redirectOutput(stdout.toFile())
                    .redirectError(stderr.toFile());
            Map<String, String> variables = builder.environment();
            variables
                    .keySet()
                    .removeIf(name -> name.startsWith("TRIGON_") || name.startsWith("NCCL_") || name.contains("JAVA"));
            variables.put("TRIGON_CONFIG", nodes.toString());
            variables.put("TRIGON_NODE", "a");
            variables.put("TMPDIR", scratch.toString());
            variables.put("PYTHONDONTWRITEBYTECODE", "1");
            variables.putAll(environment);
            return await(command, builder, stdout, stderr);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot run " + command, e);
        }
    }

    private static End await(List<String> command, ProcessBuilder builder, Path stdout, Path stderr)
            throws IOException {
        Process process = builder.start();
        try {
            if (!process.waitFor(DEADLINE_SECONDS, TimeUnit.SECONDS)) {
                throw new AssertionError("%s hangs: not ended after %d s; it says: %s"
                        .formatted(command, DEADLINE_SECONDS, Files.readString(stderr)));
            }
            return new End(process.exitValue(), Files.readString(stdout), Files.readString(stderr));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted", e);
        } finally {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
    }
}
