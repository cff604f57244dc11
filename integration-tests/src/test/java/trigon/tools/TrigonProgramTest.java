package trigon.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import trigon.cluster.machine.Machine;
import trigon.tools.console.Console;

class TrigonProgramTest {

    private static final Machine NOWHERE = new Machine(Path.of("/"), Map.of(), "localhost", "1.2.3", Optional.empty());

    /** For {@code ./trigon help} of a checkout, which needs no build. */
    private static final Path USERS_COMMANDS = Path.of("../dist/help/users.txt");

    /** What a line of the overview of {@code ./trigon} has left after names of up to 12 letters. */
    private static final int SUMMARY_COLUMNS = 64;

    /** Down to the commands of commands, such as {@code trigon policy verify}; the program itself is the first. */
    private static List<CommandLine> commands() {
        Console console = new Console(System.out, System.err, false, false, 80);
        return withSubcommands(TrigonProgram.commandLine(NOWHERE, console)).toList();
    }

    private static Stream<CommandLine> withSubcommands(CommandLine command) {
        return Stream.concat(
                Stream.of(command),
                command.getSubcommands().values().stream().flatMap(TrigonProgramTest::withSubcommands));
    }

    @Test
    void helpHasALineForEveryCommand() {
        Run run = Run.of(NOWHERE, 80, "help");

        assertThat(run.status()).isZero();
        assertThat(run.out()).isEqualTo(Run.of(NOWHERE, 80).out());
        assertThat(run.err()).isEmpty();
        for (CommandSpec command : users()) {
            assertThat(run.out().lines())
                    .filteredOn(line -> line.startsWith("  " + command.name() + " "))
                    .singleElement()
                    .asString()
                    .endsWith(summary(command));
        }
    }

    /** With {@code -Dtrigon.docs.write=true} it writes the list instead of complaining. */
    @Test
    void theCheckoutListsTheCommands() throws IOException {
        String list = users().stream()
                .map(command -> "  %-12s  %s%n".formatted(command.name(), summary(command)))
                .collect(Collectors.joining());
        if (Boolean.getBoolean("trigon.docs.write")) {
            Files.writeString(USERS_COMMANDS, list);
        }

        assertThat(list.lines()).allMatch(line -> line.length() <= 80);
        assertThat(USERS_COMMANDS)
                .as("to write it anew: ./mvnw -pl integration-tests -am test -Dtest=TrigonProgramTest"
                        + " -Dtrigon.docs.write=true -Dsurefire.failIfNoSpecifiedTests=false")
                .content()
                .isEqualTo(list);
    }

    private static List<CommandSpec> users() {
        return commands().getFirst().getSubcommands().values().stream()
                .filter(each -> !(each.getCommand() instanceof CommandLine.HelpCommand))
                .map(CommandLine::getCommandSpec)
                .filter(each -> !each.usageMessage().hidden())
                .sorted(Comparator.comparing(CommandSpec::name))
                .toList();
    }

    private static String summary(CommandSpec command) {
        return command.usageMessage().description()[0];
    }

    @Test
    void everyCommandHasHelpOf80ColumnsWhichTheBuildWrites(@TempDir Path share) throws IOException {
        ManualPages.main(new String[] {share.toString(), "1.2.3"});

        for (CommandLine command : commands()) {
            String name = command.getCommandSpec().qualifiedName(" ");
            Run run = Run.of(NOWHERE, 80, (name + " --help").split(" ", 2)[1].split(" "));

            assertThat(run.status()).as(name).isZero();
            assertThat(run.err()).as(name).isEmpty();
            assertThat(run.out()).contains("Usage: " + name);
            assertThat(run.out().lines()).as(name).allMatch(line -> line.length() <= 80);
            assertThat(share.resolve("help/" + name.replace(' ', '-') + ".txt"))
                    .content()
                    .isEqualTo(run.out());
        }
    }

    @Test
    void whatACommandIsForIsOneShortSentence() {
        for (CommandLine command : commands()) {
            if (!(command.getCommand() instanceof CommandLine.HelpCommand)) {
                assertThat(summary(command.getCommandSpec()))
                        .as(command.getCommandSpec().qualifiedName())
                        .matches("[A-Z][^.]*\\.")
                        .hasSizeLessThanOrEqualTo(SUMMARY_COLUMNS);
            }
        }
    }

    @Test
    void aWrongCommandLineIsTwo() {
        assertThat(Run.of("lynks").status()).isEqualTo(2);
        Run run = Run.of("links", "--jsonn");

        assertThat(run.status()).isEqualTo(2);
        assertThat(run.err()).contains("--jsonn").contains("trigon help links");
        assertThat(run.out()).isEmpty();
    }

    @Test
    void aNodeWhoseNameIsAnOptionIsAWrongCommandLine() {
        for (String command : List.of("doctor", "check")) {
            Run run = Run.of(command, "--nodes", "here,-oProxyCommand=x");

            assertThat(run.status()).as(run.err()).isEqualTo(2);
            assertThat(run.err()).contains("no name of a node", "trigon help " + command);
        }
    }

    @Test
    void anUnknownCommandIsNamedWithThoseThatAreNear() {
        Run run = Run.of("lynks");

        assertThat(run.status()).isEqualTo(2);
        assertThat(run.err()).contains("there is no command \"lynks\"").contains("did you mean links?");
        assertThat(Run.of("help", "doctr").err()).contains("\"doctr\"").contains("doctor");
        assertThat(Run.of("help", "doctr").status()).isEqualTo(2);
        assertThat(Run.of("po").err()).contains("policy");
        assertThat(Run.of("policy", "lst").err()).contains("\"lst\"").contains("list");
        assertThat(Run.of("wholly-different").err())
                .doesNotContain("did you mean")
                .contains("trigon help");
        assertThat(Run.of("links", "more").err()).doesNotContain("no command").contains("more");
    }

    @Test
    void saysItsVersionAndHasNoColoursWithoutATerminal() {
        assertThat(Run.of("help", "links").out()).doesNotContain("\u001b");
    }

    @Test
    void linksOfThisMachineAreShownWhateverItHas() {
        Run text = Run.of("links");
        Run json = Run.of("links", "--json");

        assertThat(text.out()).contains("Interfaces", "RDMA ports", "Links that Trigon uses");
        assertThat(json.out()).startsWith("{\n  \"schema\": \"trigon.links/1\",\n  \"version\": \"1.2.3\"");
    }

    @Test
    void aWrongSettingIsTheFirstThatLinksSays() {
        Run run = Run.of(Map.of("TRIGON_LINKS", "rdmaa"), "links");

        assertThat(run.status()).isEqualTo(1);
        assertThat(run.out())
                .startsWith("problem: the environment variable TRIGON_LINKS")
                .contains("A job does not start", "Interfaces")
                .doesNotContain("Links that Trigon");
    }

    @Test
    void everyCommandHasAPageOfTheManualAndCompletion(@TempDir Path share) throws Exception {
        ManualPages.main(new String[] {share.toString(), "1.2.3"});

        assertThat(share.resolve("bash-completion/completions/trigon"))
                .content()
                .contains("links", "--json")
                .as("values of demo's and policy's options")
                .contains("\"triangle\" \"ring4\" \"line4\" \"star4\"", "\"auto\" \"software\" \"rdma\" \"simulated\"")
                .contains("\"ring\" \"all-to-all\"", "\"reduce-scatter\" \"all-reduce\"");
        try (Stream<Path> pages = Files.list(share.resolve("man/man1"))) {
            assertThat(pages.map(page -> page.getFileName().toString()))
                    .contains("trigon.1", "trigon-links.1", "trigon-env.1");
        }
        assertThat(share.resolve("man/man1/trigon-links.1"))
                .content()
                .startsWith(".TH \"TRIGON-LINKS\" 1")
                .contains(".SH SYNOPSIS", "\\-\\-json");
    }
}
