package trigon.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import trigon.cluster.machine.Machine;
import trigon.tools.console.Console;

/**
 * The commands that the pages show: those of {@code trigon} are parsed as the program parses them, those for developers
 * are compared with their help, and those that need neither files nor hardware are run.
 */
class DocumentedCommandsTest {

    private static final Machine NOWHERE = new Machine(Path.of("/"), Map.of(), "localhost", "1.2.3", Optional.empty());
    private static final Path PROJECT = Path.of("..");
    private static final Path DEVELOPERS = PROJECT.resolve("dist/help/developers");

    private static final Pattern FENCED = Pattern.compile("(?ms)^```.*?\n(.*?)^```");
    private static final Pattern INDENTED = Pattern.compile("(?m)^ {4}(.*)$");
    private static final Pattern SPAN = Pattern.compile("`([^`]+)`");
    private static final Pattern CONTINUED = Pattern.compile("\\\\\n\\s*");

    /** Up to a comment, a pipe, or the end of what the shell would substitute. */
    private static final Pattern COMMAND = Pattern.compile("(?m)(?:^|[\\s(])((?:\\./|bin/)?)trigon ([a-z][^#|;&)\n]*)");

    private static final Pattern WORD = Pattern.compile("\"([^\"]*)\"|(\\S+)");

    private static List<Shown> shown = List.of();

    /**
     * A command on a page.
     *
     * @param inSentence whether it is only named there, and may lack what it needs
     * @param checkout whether it is {@code ./trigon}, which has developers' commands as well
     */
    private record Shown(Path page, boolean inSentence, boolean checkout, List<String> words) {

        boolean isForDevelopers() {
            return checkout && Files.exists(DEVELOPERS.resolve(words.getFirst() + ".txt"));
        }

        boolean isRunAnywhere() {
            boolean plans = words.getFirst().equals("plan") && words.contains("--shape") && !words.contains("--write");
            boolean helps = words.getFirst().equals("help") && !checkout;
            return (plans || helps) && words.stream().noneMatch(word -> word.matches("[A-Z]+"));
        }
    }

    @BeforeAll
    static void readThePages() throws IOException {
        List<Shown> found = new ArrayList<>();
        try (Stream<Path> docs = Files.walk(PROJECT.resolve("docs"))) {
            List<Path> pages = Stream.concat(
                            Stream.of("README.md", "CONTRIBUTING.md").map(PROJECT::resolve),
                            docs.filter(file -> file.toString().endsWith(".md")))
                    .toList();
            for (Path page : pages) {
                String text = CONTINUED.matcher(Files.readString(page)).replaceAll(" ");
                String prose = FENCED.matcher(text).replaceAll("");
                code(text, FENCED).forEach(code -> addCommands(found, page, false, code));
                code(prose, INDENTED).forEach(code -> addCommands(found, page, false, code));
                code(INDENTED.matcher(prose).replaceAll(""), SPAN)
                        .forEach(code -> addCommands(found, page, true, code));
            }
        }
        shown = List.copyOf(found);
    }

    @Test
    void findsCommandsInBlocksAndInSentences() {
        assertThat(shown)
                .extracting(each -> String.join(" ", each.words()))
                .contains(
                        "doctor --nodes a,b,c --rate",
                        "trace -- torchrun ...",
                        "demo --cut",
                        "env",
                        "package deb --arch aarch64");
    }

    @Test
    void thePagesCommandsAreOnesThatTheProgramTakes() {
        List<String> refused = new ArrayList<>();
        for (Shown each : shown) {
            if (!each.isForDevelopers()) {
                parse(each.words(), each.inSentence())
                        .ifPresent(why -> refused.add("%s: trigon %s: %s".formatted(each.page(), each.words(), why)));
            }
        }

        assertThat(refused).as("commands of the docs that \"trigon\" refuses").isEmpty();
    }

    @Test
    void theHelpOfDevelopersCommandsHasWhatThePagesShow() throws IOException {
        List<String> unknown = new ArrayList<>();
        for (Shown each : shown) {
            if (each.isForDevelopers()) {
                String help = Files.readString(DEVELOPERS.resolve(each.words().getFirst() + ".txt"));
                claims(each.words())
                        .filter(word -> !isIn(help, word))
                        .forEach(word -> unknown.add("%s: ./trigon %s: %s".formatted(each.page(), each.words(), word)));
            }
        }

        assertThat(unknown)
                .as("words of the docs that the help of ./trigon has not")
                .isEmpty();
    }

    @Test
    void whatRunsAnywhereEndsWell() {
        List<Shown> run = shown.stream().filter(Shown::isRunAnywhere).toList();

        assertThat(run)
                .hasSizeGreaterThan(3)
                .allSatisfy(each -> assertThat(
                                Run.of(each.words().toArray(String[]::new)).status())
                        .as("%s: trigon %s", each.page(), each.words())
                        .isZero());
    }

    @Test
    void thePlanOfARingIsTheOneOnThePage() throws IOException {
        String page = Files.readString(PROJECT.resolve("docs/guide/command.md"));
        int begin = page.indexOf("    4 nodes, 4 cables");
        String block = page.substring(begin, page.indexOf("\n\n", begin));

        assertThat(Run.of("plan", "--shape", "ring:4").out()).startsWith(block.indent(-4));
    }

    /** What the help has to name: a command's command, and options, but for those that it hands on. */
    private static Stream<String> claims(List<String> words) {
        List<String> rest = words.subList(1, words.size());
        boolean handsOn = words.getFirst().equals("benchmarks") || rest.contains("demo");
        return Stream.concat(
                rest.stream().limit(1).filter(word -> word.matches("[a-z]+")),
                rest.stream().filter(word -> word.startsWith("--") && !handsOn));
    }

    private static boolean isIn(String help, String word) {
        return Pattern.compile("(?<![\\w-])" + Pattern.quote(word) + "\\b")
                .matcher(help)
                .find();
    }

    private static Optional<String> parse(List<String> words, boolean inSentence) {
        Console console = new Console(System.out, System.err, false, false, 80);
        try {
            TrigonProgram.commandLine(NOWHERE, console).parseArgs(words.toArray(String[]::new));
            return Optional.empty();
        } catch (CommandLine.MissingParameterException e) {
            return inSentence ? Optional.empty() : Optional.of(String.valueOf(e.getMessage()));
        } catch (CommandLine.ParameterException e) {
            return Optional.of(String.valueOf(e.getMessage()));
        }
    }

    private static Stream<String> code(String text, Pattern pattern) {
        return pattern.matcher(text).results().map(result -> result.group(1));
    }

    private static void addCommands(List<Shown> to, Path page, boolean inSentence, String code) {
        COMMAND.matcher(code).results().forEach(command -> {
            List<String> words = WORD.matcher(command.group(2))
                    .results()
                    .map(word -> word.group(1) == null ? word.group(2) : word.group(1))
                    .toList();
            to.add(new Shown(page, inSentence, command.group(1).equals("./"), words));
        });
    }
}
