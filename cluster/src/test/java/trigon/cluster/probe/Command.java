package trigon.cluster.probe;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A command of the system that has to succeed. */
final class Command {

    private static final long DEADLINE_SECONDS = 60;

    private Command() {}

    /**
     * Runs it, and returns what it has printed.
     *
     * @throws IOException if it fails, with what it has printed, or does not end
     */
    static String run(List<String> words) throws IOException {
        Path output = Files.createTempFile("trigon-command", ".log");
        try {
            Process process = new ProcessBuilder(words)
                    .redirectErrorStream(true)
                    .redirectOutput(output.toFile())
                    .start();
            if (!process.waitFor(DEADLINE_SECONDS, TimeUnit.SECONDS) || process.exitValue() != 0) {
                process.destroyForcibly();
                throw new IOException(String.join(" ", words) + ": "
                        + Files.readString(output, StandardCharsets.UTF_8).strip());
            }
            return Files.readString(output, StandardCharsets.UTF_8);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException(e);
        } finally {
            Files.delete(output);
        }
    }
}
