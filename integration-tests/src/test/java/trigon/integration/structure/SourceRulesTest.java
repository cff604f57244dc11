package trigon.integration.structure;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import trigon.config.Settings;
import trigon.config.setting.SettingKey;
import trigon.integration.testsupport.ProjectFiles;
import trigon.integration.testsupport.ProjectFiles.TextFile;

/** The rules for the text of all sources, in whatever language. What jextract has generated is none of ours. */
class SourceRulesTest {

    private static final int MAX_COLUMNS = 120;
    private static final int TAB_COLUMNS = 8;

    /** Maven's own. */
    private static final String WRAPPER = "mvnw";

    private static final Pattern SOURCE = Pattern.compile(".*\\.(java|c|cc|h|py|sh)");
    private static final Pattern VARIABLE = Pattern.compile("\\bTRIGON_[A-Z_]*[A-Z]\\b(?!=VALUE)");
    private static final Pattern MACRO = Pattern.compile("#define (TRIGON_[A-Z_]*[A-Z])\\b");

    /** A key of the distribution's file "release". */
    private static final String RELEASE_KEY = "TRIGON_VERSION";

    private static final Pattern INCLUDE_GUARD = Pattern.compile("TRIGON_[A-Z_]+_H");
    private static final List<TextFile> SOURCES = ProjectFiles.matching(SourceRulesTest::isSource);

    @Test
    void linesAreNoLongerThanAScreenIsWide() {
        assertThat(tooWide()).as("lines of more than %d columns", MAX_COLUMNS).isEmpty();
    }

    /** One that is not in the table would be warned of as no setting of Trigon's. */
    @Test
    void variablesOfTheEnvironmentAreInTheTableOfSettings() {
        List<String> known = Settings.all().stream()
                .flatMap((SettingKey<?> key) -> key.variable().stream())
                .toList();
        Set<String> macros = new TreeSet<>(Set.of(RELEASE_KEY));
        SOURCES.forEach(
                source -> MACRO.matcher(source.text()).results().forEach(result -> macros.add(result.group(1))));
        Set<String> unknown = new TreeSet<>();
        for (TextFile source : SOURCES) {
            if (!source.path().startsWith("config/src/test/")) {
                VARIABLE.matcher(source.text())
                        .results()
                        .map(result -> result.group())
                        .filter(name -> !known.contains(name)
                                && !macros.contains(name)
                                && !INCLUDE_GUARD.matcher(name).matches())
                        .forEach(name -> unknown.add(name + " in " + source.path()));
            }
        }

        assertThat(unknown).isEmpty();
    }

    /** A comment such as "Returns the name." on {@code name()}: it takes a reader's time, and says nothing. */
    @Test
    void commentsSayMoreThanTheNameOfWhatTheyAreOn() {
        List<DocComment> empty = SOURCES.stream()
                .filter(source -> source.path().endsWith(".java"))
                .flatMap(source -> DocComment.in(source).stream())
                .filter(DocComment::onlyRepeatsItsName)
                .toList();

        assertThat(empty)
                .as("comments that only repeat a name: delete them, or say roles, units, threads, lifetimes, errors")
                .isEmpty();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            The windows.                 | public Windows windows()            | true
            Returns the name of it.      | String name()                       | true
            Opens and connects.          | static Pair connectOpened(Fabric f) | true
            The name, without folders.   | String name()                       | false
            Any thread.                  | int port()                          | false
            {@link #test}.               | int test()                          | false
            Not connected any more.      | boolean connected()                 | false
            """)
    void knowsWhichCommentsRepeatANameOnly(String comment, String declaration, boolean expected) {
        String text = "/** " + comment + " */\n@Nullable\n" + declaration + " {}";

        assertThat(DocComment.in(new TextFile("module/Some.java", text)))
                .singleElement()
                .extracting(DocComment::onlyRepeatsItsName)
                .isEqualTo(expected);
    }

    @Test
    void looksAtAllModules() {
        List<String> paths = SOURCES.stream().map(TextFile::path).toList();
        for (ReactorModule module : ReactorModule.all()) {
            assertThat(paths).as("sources of %s", module).anyMatch(path -> path.startsWith(module.folder() + "/"));
        }
        assertThat(paths).contains("trigon", "dist/src/main/sh/trigon", ".ci/run", ".mvn/find-jdk.sh");
    }

    private static List<String> tooWide() {
        List<String> found = new ArrayList<>();
        for (TextFile source : SOURCES) {
            List<String> lines = source.text().lines().toList();
            for (int i = 0; i < lines.size(); i++) {
                if (columns(lines.get(i)) > MAX_COLUMNS) {
                    found.add("%s:%d".formatted(source.path(), i + 1));
                }
            }
        }
        return found;
    }

    private static int columns(String line) {
        int columns = 0;
        for (int c : line.codePoints().toArray()) {
            columns += c == '\t' ? TAB_COLUMNS - columns % TAB_COLUMNS : 1;
        }
        return columns;
    }

    /** By its ending, or, without one, if its first line says what runs it. */
    static boolean isSource(Path file) {
        String name = file.getFileName().toString();
        if (name.equals(WRAPPER)) {
            return false;
        }
        if (name.contains(".")) {
            return SOURCE.matcher(name).matches();
        }
        try (var in = Files.newInputStream(file)) {
            return new String(in.readNBytes(2), StandardCharsets.ISO_8859_1).equals("#!");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
