package trigon.tools;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import trigon.cluster.machine.Machine;
import trigon.tools.console.Console;

/** A run of the command in this JVM. */
public record Run(int status, String out, String err) {

    public static Run of(String... arguments) {
        return of(Map.of(), arguments);
    }

    public static Run of(Map<String, String> environment, String... arguments) {
        return of(new Machine(Path.of("/"), environment, "here", "1.2.3", Optional.empty()), 100, arguments);
    }

    public static Run of(Machine machine, int width, String... arguments) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        Console console = new Console(
                new PrintStream(out, true, StandardCharsets.UTF_8),
                new PrintStream(err, true, StandardCharsets.UTF_8),
                false,
                false,
                width);
        int status = TrigonProgram.run(machine, console, arguments);
        return new Run(status, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
    }
}
