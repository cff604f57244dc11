package trigon.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import picocli.CommandLine;
import picocli.CommandLine.HelpCommand;
import picocli.CommandLine.Model.OptionSpec;
import trigon.cluster.json.JsonObject;
import trigon.cluster.machine.Machine;
import trigon.tools.console.Console;

/** JSON and width of all commands that print facts. The program's own list says which commands there are. */
@Timeout(300)
@Isolated("a program that another thread starts meanwhile holds the script open: \"text file busy\"")
class JsonOfCommandsTest {

    /**
     * The doctor's agent speaks JSON always, reports are files, and others change something and say what. The facts of
     * tune are those of bench, or a policy's.
     */
    private static final Set<String> WITHOUT_FACTS =
            Set.of("agent", "disable", "down", "enable", "relay", "report", "trace", "train", "tune", "up");

    /** For a shell, and for Prometheus. */
    private static final Set<String> WITHOUT_WIDTH = Set.of("env", "metrics");

    private static final Path POLICY = Path.of("../policy/examples/noop.o");
    private static final Path PAGE = Path.of("../docs/reference/json.md");
    private static final Pattern SCHEMA = Pattern.compile("schema (trigon\\.[a-z-]+/\\d+)\\b");
    private static final Pattern COMMAND = Pattern.compile("  to (do|see more): .*");
    private static final int COLUMNS = 80;

    @TempDir
    private Path folder = Path.of("/nonexistent"); // until JUnit has set it

    private int archives;

    /** With a program in place of nccl-host, which says what it should have measured. */
    private Machine machine() throws IOException {
        Path host = Files.createDirectories(folder.resolve("home/libexec")).resolve("nccl-host");
        Files.writeString(host, """
            #!/bin/sh
            echo "rank 0: NCCL INFO NET/Trigon : sends to b via lo 127.0.12.1/24 (TCP), same subnet /24: TCP" >&2
            echo 'rank 0: 4 bytes, 0 wrong'
            echo '{"rank": 0, "wrong": 0, "round_us": [90.0]}'
            """);
        Files.setPosixFilePermissions(host, PosixFilePermissions.fromString("rwxr-xr-x"));
        Files.writeString(Files.createDirectories(folder.resolve("home/lib")).resolve("libnccl-net-trigon.so"), "none");
        return new Machine(
                Path.of("/"), Map.of("PATH", "/usr/bin:/bin"), "here", "1.2.3", Optional.of(folder.resolve("home")));
    }

    /** What makes a command end here with its facts. */
    private String arguments(String command) {
        return switch (command) {
            case "bench" -> " --sizes 4K";
            case "demo" -> " --links software --bytes 4 --iterations 1";
            case "explain" -> " --to 127.0.0.2/8";
            case "plan" -> " --shape line:3";
            case "policy load" -> " " + POLICY + " " + folder.resolve("policy.o");
            case "policy test", "policy verify" -> " " + POLICY;
            case "support" -> " --output " + folder.resolve(archives++ + ".zip");
            case "top" -> " --times 1";
            case "verify" -> " -- true";
            default -> "";
        };
    }

    private static Stream<CommandLine> leaves(CommandLine command) {
        return command.getSubcommands().isEmpty()
                ? Stream.of(command)
                : command.getSubcommands().values().stream().flatMap(JsonOfCommandsTest::leaves);
    }

    private static List<CommandLine> commands() {
        Machine nowhere = new Machine(Path.of("/"), Map.of(), "here", "1.2.3", Optional.empty());
        return leaves(TrigonProgram.commandLine(nowhere, new Console(System.out, System.err, false, false, COLUMNS)))
                .filter(each -> !(each.getCommand() instanceof HelpCommand))
                .filter(each -> !WITHOUT_FACTS.contains(name(each)))
                .toList();
    }

    private static String name(CommandLine command) {
        return command.getCommandSpec().qualifiedName(" ").replaceFirst("^trigon ", "");
    }

    @Test
    void everyCommandThatPrintsFactsHasThemAsOneDocumentOfItsSchema() throws IOException {
        Machine machine = machine();
        String page = Files.readString(PAGE);
        assertThat(commands()).extracting(JsonOfCommandsTest::name).contains("links", "top", "policy load");
        for (CommandLine command : commands()) {
            String name = name(command);
            OptionSpec option = command.getCommandSpec().findOption("--json");
            assertThat(option).as("--json of %s", name).isNotNull();
            Matcher schema = SCHEMA.matcher(String.join(" ", option.description()));
            assertThat(schema.find()).as("schema of %s", name).isTrue();
            assertThat(schema.group(1)).startsWith("trigon." + name.replace(' ', '-') + "/");

            // the option goes before a command of verify's
            Run run = Run.of(machine, COLUMNS, (name + " --json" + arguments(name)).split(" "));

            JsonObject document = JsonObject.parse(run.out());
            assertThat(document.values())
                    .as(name + run.err())
                    .containsEntry("schema", schema.group(1))
                    .containsEntry("version", "1.2.3")
                    .containsEntry("host", "here");
            List<String> keys = new ArrayList<>(document.values().keySet());
            keys.removeAll(List.of("schema", "version", "host"));
            assertThat(section(page, schema.group(1)))
                    .as("%s explains the keys of %s", PAGE, name)
                    .contains(keys.stream().map(key -> "`" + key + "`").toList());
        }
    }

    /** The page's part on a schema; some have one in common, whose heading shortens the further ones. */
    private static String section(String page, String schema) {
        return Stream.of(page.split("(?m)^## "))
                .filter(part -> {
                    String heading = part.lines().findFirst().orElse("");
                    return heading.contains(schema)
                            || (heading.contains(schema.replaceFirst("-.*", "-"))
                                    && heading.contains(" " + schema.replaceFirst("^[^-]*", "")));
                })
                .findFirst()
                .orElse("");
    }

    @Test
    void noLineOfThemIsWiderThanTheConsole() throws IOException {
        Machine machine = machine();
        List<String> wide = new ArrayList<>();
        for (CommandLine command : commands()) {
            String name = name(command);
            if (!WITHOUT_WIDTH.contains(name)) {
                Run run = Run.of(machine, COLUMNS, (name + arguments(name)).split(" "));

                run.out()
                        .lines()
                        .filter(line -> line.length() > COLUMNS)
                        .filter(line -> !COMMAND.matcher(line).matches() && !line.contains(folder.toString()))
                        .forEach(line -> wide.add(name + ": " + line));
            }
        }
        assertThat(wide).isEmpty();
    }
}
