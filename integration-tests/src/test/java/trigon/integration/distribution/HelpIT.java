package trigon.integration.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import trigon.integration.testsupport.HostProgram;
import trigon.integration.testsupport.ProjectFiles;

/**
 * The help of every command: of the distribution, of {@code ./trigon}, and of scripts that have one of their own. It is
 * printed, and nothing else is done.
 */
@Timeout(240)
class HelpIT {

    private static final int COLUMNS = 80;
    private static final Path DISTRIBUTION = HostProgram.distribution().normalize();
    private static final String TRIGON = DISTRIBUTION.resolve("bin/trigon").toString();
    private static final String CHECKOUT =
            ProjectFiles.PROJECT.resolve("trigon").toString();

    /** Printing takes no more. Whatever else a script runs by its name is not found, and the shell says so. */
    private static final List<String> PROGRAMS = List.of("bash", "cat", "dirname", "env", "readlink", "sh", "uname");

    private static final Pattern HAS_HELP =
            Pattern.compile("(?m)^[^#\n]*(-h ?\\| ?--help\\b[^\n]*\\)|-h\\W: .*--help\\W: )");

    /** A line of an overview: a name, and what the command does. */
    private static final Pattern LINE = Pattern.compile("(?m)^  ([a-z][a-z0-9-]*)  +[A-Z].*\\.$");

    @TempDir
    private Path directory;

    private Path programs = Path.of("");
    private Path untouched = Path.of("");

    private record End(int exit, String out, String err) {}

    @BeforeEach
    void leaveOnlyWhatPrints() throws IOException {
        programs = Files.createDirectory(directory.resolve("bin"));
        untouched = Files.createDirectory(directory.resolve("untouched"));
        for (String program : PROGRAMS) {
            leave(program);
        }
    }

    private void leave(String program) throws IOException {
        Path here = Stream.of("/usr/bin", "/bin")
                .map(folder -> Path.of(folder, program))
                .filter(Files::isExecutable)
                .findFirst()
                .orElseThrow();
        Files.createSymbolicLink(programs.resolve(program), here);
    }

    @Test
    void everyCommandOfTheDistributionHasHelp() throws Exception {
        List<String> pages = pages();

        assertThat(pages).contains("trigon", "trigon-demo", "trigon-links", "trigon-policy-verify");
        for (String page : pages) {
            List<String> words = Stream.of(page.split("-")).skip(1).toList();
            String help = help(TRIGON, Stream.concat(Stream.of("help"), words.stream()));
            assertThat(help).contains("Usage: " + page.replace('-', ' '));
            assertThat(help(TRIGON, Stream.concat(words.stream(), Stream.of("--help"))))
                    .isEqualTo(help);
        }
        assertThat(help(TRIGON, Stream.of("demo", "--cut", "--help")))
                .isEqualTo(help(TRIGON, Stream.of("help", "demo")));
    }

    @Test
    @Tag("long")
    void everyCommandOfTheCheckoutHasHelp() throws Exception {
        String overview = help(CHECKOUT, Stream.of("help"));
        List<String> commands =
                LINE.matcher(overview).results().map(line -> line.group(1)).toList();

        assertThat(overview).isEqualTo(help(CHECKOUT, Stream.of())).isEqualTo(help(CHECKOUT, Stream.of("--help")));
        assertThat(commands).contains("bench", "demo", "build", "lab").doesNotHaveDuplicates();
        assertThat(commands.indexOf("verify")).as("users' commands come first").isLessThan(commands.indexOf("arm64"));
        for (String command : commands) {
            String help = help(CHECKOUT, Stream.of("help", command));
            assertThat(help).isEqualTo(help(CHECKOUT, Stream.of(command, "--help")));
            if (Files.exists(DISTRIBUTION.resolve("share/help/trigon-" + command + ".txt"))) {
                assertThat(help).isEqualTo(help(TRIGON, Stream.of("help", command)));
            } else {
                assertThat(help).contains("usage: ./trigon " + command);
            }
        }
    }

    /** A command that the overview does not list would not be tried above. */
    @Test
    void thereIsNoCommandThatTheOverviewDoesNotList() throws Exception {
        for (List<String> command : List.of(
                List.of("lynks"),
                List.of("help", "lynks"),
                List.of("lynks", "--help"),
                List.of("../lab"),
                List.of(""))) {
            End end = run(CHECKOUT, command.stream());

            assertThat(end.exit()).as("%s", command).isEqualTo(2);
            assertThat(end.out()).isEmpty();
            assertThat(end.err().lines()).singleElement().asString().contains("there is no command", "./trigon help");
        }
    }

    @Test
    void everyScriptThatOffersHelpHasIt() throws Exception {
        // those of the distribution are tried there
        List<String> scripts =
                ProjectFiles.matching(file ->
                                Files.isExecutable(file) && !file.getFileName().endsWith("mvnw"))
                        .stream()
                        .filter(script -> script.text().startsWith("#!"))
                        .filter(script -> !script.path().startsWith("dist/src/"))
                        .filter(script -> HAS_HELP.matcher(script.text()).find())
                        .map(script ->
                                ProjectFiles.PROJECT.resolve(script.path()).toString())
                        .toList();

        assertThat(scripts).anyMatch(path -> path.endsWith("/lab.py")).anyMatch(path -> path.endsWith("/nccl/run.sh"));
        leave("python3"); // what a script is in
        for (String script : scripts) {
            assertThat(help(script, Stream.of("--help"))).contains("usage: ");
        }
    }

    /** A build would take minutes, and a program that is not found here would end it late. */
    @Test
    void packagesThatCannotBeMadeAreNamedBeforeAnythingIsBuilt() throws Exception {
        leave("sort");
        leave("paste");
        End one = run(CHECKOUT, Stream.of("package", "rpm"));
        End all = run(CHECKOUT, Stream.of("package", "all"));

        assertThat(one.exit()).isEqualTo(1);
        assertThat(one.err())
                .isEqualTo("trigon: no package of kind rpm: it needs readelf rpmbuild, not found on this machine; on"
                        + " Debian and Ubuntu: apt-get install binutils rpm\n");
        assertThat(all.exit()).isEqualTo(1);
        assertThat(all.err().lines()).hasSize(5).contains(one.err().strip());
    }

    /** Of the command tree: the build has written a page for each. */
    private static List<String> pages() throws IOException {
        try (Stream<Path> files = Files.list(DISTRIBUTION.resolve("share/help"))) {
            return files.map(file -> file.getFileName().toString().replaceFirst("\\.txt$", ""))
                    .sorted()
                    .toList();
        }
    }

    private String help(String program, Stream<String> arguments) throws IOException, InterruptedException {
        List<String> words = arguments.toList();
        End end = run(program, words.stream());

        assertThat(end.err()).as("on standard error, by %s %s", program, words).isEmpty();
        assertThat(end.exit()).as("%s %s", program, words).isZero();
        assertThat(end.out()).as("%s %s", program, words).isNotEmpty();
        assertThat(end.out().lines())
                .as("%s %s: lines of at most %d columns", program, words, COLUMNS)
                .allMatch(line -> line.length() <= COLUMNS);
        return end.out();
    }

    private End run(String program, Stream<String> arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(program));
        command.addAll(arguments.toList());
        Path out = directory.resolve("out");
        Path err = directory.resolve("err");
        ProcessBuilder builder = new ProcessBuilder(command)
                .directory(untouched.toFile())
                .redirectOutput(out.toFile())
                .redirectError(err.toFile());
        builder.environment().clear();
        builder.environment().put("PATH", programs.toString());
        builder.environment().put("HOME", untouched.toString());
        builder.environment().put("TMPDIR", untouched.toString());
        // a JVM would say that it has picked this up
        builder.environment().put("JDK_JAVA_OPTIONS", "-Dtrigon.none=none");
        Process process = builder.start();
        try {
            assertThat(process.waitFor(60, TimeUnit.SECONDS))
                    .as("%s has ended", command)
                    .isTrue();
        } finally {
            process.destroyForcibly();
        }
        assertThat(untouched).as("what %s has written", command).isEmptyDirectory();
        return new End(process.exitValue(), Files.readString(out), Files.readString(err));
    }
}
