package trigon.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;
import trigon.cluster.machine.Machine;
import trigon.tools.console.Console;

/**
 * Names that users rely on, beside a list that is kept: one that goes, or comes, changes the list, too. Those that the
 * page leaves open are not in it.
 */
class StableNamesTest {

    private static final Path PROJECT = Path.of("..");
    private static final Path LIST = Path.of("src/test/resources/stable-names.txt");
    private static final String PAGE = "docs/reference/stable.md";

    private static final Pattern SETTING = Pattern.compile("(?m)^\\| `([\\w.]+)` \\|");
    private static final Pattern SCHEMA = Pattern.compile("(?m)^## (trigon\\.\\w+/\\d+)$");
    private static final Pattern STRUCT = Pattern.compile("(?s)struct (trigon_\\w+) \\{(.*?)\\n};");
    private static final Pattern FIELD = Pattern.compile("(?m)^ +(?:volatile )?[us]\\d+ (\\w+);");
    private static final Pattern CONSTANT = Pattern.compile("\\b(?:TRIGON|NCCL)_[A-Z]\\w*(?= (?:=|[01(])|\\()");
    private static final Pattern TABLE = Pattern.compile("\\bnccl\\w+_v\\d+");
    private static final Pattern OPEN = Pattern.compile("(?m)^\\|.*\\|(.*)\\|$");
    private static final Pattern SPAN = Pattern.compile("`([^`]+)`");

    /** With {@code -Dtrigon.docs.write=true} it writes the list instead of complaining. */
    @Test
    void theListHasAllStableNames() throws IOException {
        Set<String> names = names();
        names.removeAll(open());
        String text = names.stream().map(name -> name + "\n").collect(Collectors.joining());
        if (Boolean.getBoolean("trigon.docs.write")) {
            Files.writeString(LIST, text);
        }

        assertThat(LIST)
                .as("names that users rely on: restore what is gone, or have the changes say what to do; to write the"
                        + " list anew: ./mvnw -pl integration-tests -am test -Dtest=StableNamesTest"
                        + " -Dtrigon.docs.write=true -Dsurefire.failIfNoSpecifiedTests=false")
                .content()
                .isEqualTo(text);
    }

    @Test
    void whatThePageLeavesOpenIsThere() throws IOException {
        Set<String> files = Set.of("./trigon", "ncclbpf_compat.h");

        assertThat(names())
                .containsAll(
                        open().stream().filter(name -> !files.contains(name)).toList());
    }

    private static Set<String> names() throws IOException {
        Set<String> names = new TreeSet<>();
        add(names, SETTING, "docs/guide/settings.md");
        add(names, SCHEMA, "docs/reference/json.md");
        add(names, TABLE, "native-entry/src/main/c/exports.map");
        String header = "policy/engine/src/main/c/trigon_policy.h";
        add(names, CONSTANT, header);
        STRUCT.matcher(textOf(header))
                .results()
                .forEach(struct -> FIELD.matcher(struct.group(2))
                        .results()
                        .forEach(field -> names.add(struct.group(1) + "." + field.group(1))));
        Machine nowhere = new Machine(Path.of("/"), Map.of(), "localhost", "1.2.3", Optional.empty());
        addCommands(names, TrigonProgram.commandLine(nowhere, new Console(System.out, System.err, false, false, 80)));
        return names;
    }

    private static void addCommands(Set<String> names, CommandLine command) {
        String name = command.getCommandSpec().qualifiedName(" ");
        names.add(name);
        for (OptionSpec option : command.getCommandSpec().options()) {
            if (!option.hidden()) {
                names.add(name + " " + option.longestName());
            }
        }
        command.getSubcommands().values().forEach(each -> addCommands(names, each));
    }

    private static void add(Set<String> names, Pattern pattern, String file) throws IOException {
        pattern.matcher(textOf(file))
                .results()
                .forEach(found -> names.add(found.group(found.groupCount() > 0 ? 1 : 0)));
    }

    /** Code in the last column of the page's table. */
    private static Set<String> open() throws IOException {
        return OPEN.matcher(textOf(PAGE))
                .results()
                .flatMap(row -> SPAN.matcher(row.group(1)).results())
                .map(span -> span.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static String textOf(String file) throws IOException {
        return Files.readString(PROJECT.resolve(file));
    }
}
