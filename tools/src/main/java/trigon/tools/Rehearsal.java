package trigon.tools;

import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import trigon.cluster.machine.Machine;
import trigon.tools.console.Console;

/** Runs commands whose output nobody sees, so that the JVM learns for its AOT cache what they need. */
final class Rehearsal {

    private static final List<String> COMMANDS = List.of(
            "",
            "help",
            "help links",
            "help doctor",
            "help policy",
            "help no-such-command",
            "links --help",
            "links",
            "links --json",
            "links --no-such-option",
            "doctor",
            "doctor --json",
            "demo",
            "demo --shape none",
            "enable --help",
            "env",
            "check",
            "jobs",
            "metrics",
            "top --times 1",
            "plan --shape ring:4",
            "plan --shape line:3 --json",
            "explain --to 127.0.0.2/8",
            "report /nonexistent",
            "trace --help",
            "relay --help",
            "support --help",
            "verify -- true",
            "policy list",
            "policy stat",
            "policy verify /nonexistent",
            "bench --ranks 1",
            "bench");

    private Rehearsal() {}

    public static void main(String[] arguments) {
        Machine machine =
                new Machine(Path.of("/"), Map.of("TERM", "xterm"), "localhost", "of a rehearsal", Optional.empty());
        try (PrintStream nowhere = new PrintStream(PrintStream.nullOutputStream(), false, StandardCharsets.UTF_8)) {
            for (boolean colour : new boolean[] {false, true}) {
                Console console = new Console(nowhere, nowhere, colour, colour, Console.USUAL_WIDTH);
                for (String command : COMMANDS) {
                    var _ = TrigonProgram.run(machine, console, command.isEmpty() ? new String[0] : command.split(" "));
                }
            }
        }
    }
}
