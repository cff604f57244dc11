package trigon.tools;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.TypeConversionException;
import trigon.cluster.machine.Machine;
import trigon.tools.console.Console;

/** Failures are sentences: no command shows a Java exception, whatever file it is given. */
class FailuresTest {

    private static final Machine HERE = new Machine(Path.of("/"), Map.of(), "here", "1.2.3", Optional.empty());

    /** Each way to name a file on a command line. FILE is the file. */
    private static final List<String> LINES = List.of(
            "plan FILE",
            "plan --shape ring:2 --write FILE",
            "report FILE",
            "trace --out FILE -- /nonexistent/program",
            "metrics --file FILE",
            "support --output /nonexistent/x.zip --log FILE",
            "bench --submit FILE",
            "support --output FILE",
            "policy verify FILE",
            "policy test FILE",
            "policy load FILE",
            "verify -- FILE",
            "tune --out FILE -- /nonexistent/program",
            "tune --out /nonexistent/x.o --traces FILE -- /nonexistent/program");

    /** These write at the end of what takes longer than a unit test may; the examination needs other nodes. */
    private static final Set<String> WRITTEN_LAST = Set.of(
            "doctor --cables",
            "bench --svg",
            "demo --logs",
            "policy test --plot",
            "report --html",
            "report --perfetto",
            "report --json",
            "trace --html",
            "trace --perfetto",
            "trace --json");

    @TempDir
    private Path folder = Path.of("/nonexistent"); // until JUnit has set it

    @Test
    void noFileCausesAJavaException() throws IOException {
        Path binary = Files.write(folder.resolve("binary"), new byte[] {1, (byte) 0xFF, (byte) 0xFE, 0});
        List<String> files = List.of(
                "", folder.toString(), binary.toString(), binary + "/x", folder + "/nowhere/x", "/proc/x", "/dev/zero");
        for (String line : LINES) {
            for (String file : files) {
                Run run = Run.of(Stream.of(line.split(" ", -1))
                        .map(word -> word.equals("FILE") ? file : word)
                        .toArray(String[]::new));

                assertThat(run.out() + run.err())
                        .as(line + " with " + file)
                        .doesNotContain("Exception")
                        .doesNotContain("\tat ")
                        .doesNotContain("error=");
                assertThat(run.status() == 0 || !(run.err() + run.out()).isBlank())
                        .as(line + " with " + file)
                        .isTrue();
                assertThat(run.err().lines().count())
                        .as(line + " with " + file + run.err())
                        .isLessThan(3);
            }
        }
    }

    @Test
    void aDeviceIsNotReplacedByAFile() {
        assertThat(Run.of("metrics", "--file", "/dev/zero").err()).contains("/dev/zero: it is not a regular file");
        assertThat(Files.isRegularFile(Path.of("/dev/zero"))).isFalse();
    }

    @Test
    void everyOptionWithAFileIsTried() {
        Console console = new Console(System.out, System.err, false, false, 80);
        Set<String> options = new TreeSet<>();
        add(TrigonProgram.commandLine(HERE, console), options);
        Set<String> tried = LINES.stream()
                .map(line -> line.replaceAll("--(shape|output|out) [^F ]\\S+ ", ""))
                .map(line -> line.replaceFirst(" FILE$| FILE .*", ""))
                .collect(Collectors.toCollection(TreeSet::new));
        tried.addAll(WRITTEN_LAST);

        assertThat(options).isNotEmpty().allMatch(tried::contains, "is in a line here");
    }

    private static void add(CommandLine command, Set<String> options) {
        for (ArgSpec each : command.getCommandSpec().args()) {
            boolean isFile =
                    each.type() == Path.class || List.of(each.auxiliaryTypes()).contains(Path.class);
            if (isFile) {
                String name = command.getCommandSpec().qualifiedName(" ").replaceFirst("^trigon ", "");
                options.add(name + (each.isOption() ? " " + ((CommandLine.Model.OptionSpec) each).longestName() : ""));
            }
        }
        command.getSubcommands().values().forEach(each -> add(each, options));
    }

    @Test
    void aFailureNamesTheFileTheReasonAndTheRemedy() {
        assertThat(Run.of("plan", "/nonexistent/cables").err())
                .isEqualTo("trigon: cannot read /nonexistent/cables: there is no such file or folder; give the path of"
                        + " a file that you may read\n");
        assertThat(Run.of("plan", folder.toString()).err()).contains(folder + ": it is a folder; ");
        assertThat(Run.of("plan", "--shape", "ring:2", "--write", "/proc/x").err())
                .contains("cannot write /proc/x", "give a path in a folder that exists and that you may write to");
        assertThat(Run.of("metrics", "--listen", "192.0.2.1:80").err())
                .startsWith("trigon: cannot listen on 192.0.2.1:80: ")
                .endsWith("give a free port, after an address of this machine\n");
    }

    @Test
    void aTraceThatCannotBeReadIsTheOnlyThingThatIsSaid() {
        Run run = Run.of("report", folder.resolve("nodir").toString());

        assertThat(run.status()).isEqualTo(1);
        assertThat(run.out()).isEmpty();
        assertThat(run.err()).startsWith("trigon: no trace could be read: " + folder + "/nodir does not exist; give");
    }

    @Test
    void anExceptionThatNoCommandExplainsIsASentence() {
        assertThat(Failures.text(new NoSuchFileException("/a"))).startsWith("/a: there is no such file or folder; ");
        assertThat(Failures.text(new UncheckedIOException(new AccessDeniedException("/a"))))
                .startsWith("/a: permission is denied; ");
        assertThat(Failures.text(
                        new IOException("Cannot run program \"/x\": Exec failed, error: 13 (Permission denied) ")))
                .isEqualTo("input or output failed: permission denied");
    }

    @Test
    void aBugIsSaidToBeOneAndItsStackTraceIsInAFile() throws IOException {
        String text = Failures.text(new IllegalStateException("the sky has fallen"));

        assertThat(text).contains("a bug in Trigon", "troubleshooting.md").doesNotContain("Exception", "\n");
        Path file = Path.of(text.replaceFirst(".* report it with ", "").replaceFirst(";.*", ""));
        assertThat(file).content().contains("IllegalStateException: the sky has fallen", "FailuresTest");
        Files.delete(file);
    }

    @Test
    void aPathThatThisLocaleCannotNameIsASentence() {
        assertThatThrownBy(() -> Failures.path("a\0b"))
                .isInstanceOf(TypeConversionException.class)
                .hasMessageContaining("cannot be the name of a file here")
                .hasMessageNotContaining("Exception");
    }
}
