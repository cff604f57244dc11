package trigon.tools.demo;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import trigon.tools.console.CommandFailure;

/** Programs of the system, such as {@code ip}. */
final class Program {

    private Program() {}

    /**
     * Runs it to its end.
     *
     * @throws CommandFailure with what it has said, if it fails
     */
    static void run(List<String> command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (process.waitFor() != 0) {
            throw new CommandFailure(String.join(" ", command) + ": " + said.strip());
        }
    }

    /** Whether it is there, and does not fail. */
    static boolean succeeds(List<String> command) throws InterruptedException {
        try {
            run(command);
            return true;
        } catch (IOException | CommandFailure _) {
            return false;
        }
    }
}
