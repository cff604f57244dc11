package trigon.entry;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * A program that loads the plugin, run to its end.
 *
 * @param exit its exit code, 128 plus the number of a signal that ended it
 */
record ChildProcess(int exit, String stdout, String stderr) {

    private static final int DEADLINE_SECONDS = 180;

    /** The test installation: lib/, jars/, no runtime/. */
    static final Path HOME = Path.of(System.getProperty("trigon.test.home"));

    static final Path PLUGIN = HOME.resolve("lib/libnccl-net-trigon.so");

    static final String HOST = System.getProperty("trigon.test.host");

    /** Runs the host program. */
    static ChildProcess host(Path scratch, Map<String, String> environment, String... arguments)
            throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(HOST, "--timeout", "120"));
        command.addAll(List.of(arguments));
        return run(scratch, environment, command);
    }

    /** Runs any program with a deadline; on top of this process's environment, which says nothing to Trigon. */
    static ChildProcess run(Path scratch, Map<String, String> environment, List<String> command)
            throws IOException, InterruptedException {
        Path stdout = Files.createTempFile(scratch, "stdout", ".txt");
        Path stderr = Files.createTempFile(scratch, "stderr", ".txt");
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectOutput(stdout.toFile()).redirectError(stderr.toFile());
        builder.environment()
                .keySet()
                .removeIf(name -> name.startsWith("TRIGON_") || name.startsWith("NCCL_") || name.endsWith("_OPTIONS"));
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        builder.environment().put("TMPDIR", scratch.toString());
        builder.environment().putAll(environment);
        Process process = builder.start();
        if (!process.waitFor(DEADLINE_SECONDS, TimeUnit.SECONDS)) {
            process.destroyForcibly().waitFor();
            throw new AssertionError(
                    "%s ran longer than %d s:%n%s".formatted(command, DEADLINE_SECONDS, Files.readString(stderr)));
        }
        return new ChildProcess(process.exitValue(), Files.readString(stdout), Files.readString(stderr));
    }
}
