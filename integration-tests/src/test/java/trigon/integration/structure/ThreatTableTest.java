package trigon.integration.structure;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import trigon.integration.testsupport.ProjectFiles;

/** The table of threats in docs/reference/security.md names the tests that there are, and all of them. */
class ThreatTableTest {

    private static final Path PAGE = ProjectFiles.PROJECT.resolve("docs/reference/security.md");

    private static final Pattern ROW = Pattern.compile("(?m)^\\| [a-z].* \\| (`\\w+(?:Test|IT)`.*) \\|$");
    private static final Pattern NAME = Pattern.compile("`(\\w+(?:Test|IT))`");
    private static final Pattern LENGTH = Pattern.compile("each parser for (\\d+) s after");

    /** By name, with their places. */
    private static final Map<String, Path> TESTS = tests();

    @Test
    void thePageNamesTestsThatThereAre() {
        assertThat(TESTS.keySet()).containsAll(named());
    }

    @Test
    void thePageNamesEachTestOfAttacks() {
        Set<String> attacks = new TreeSet<>();
        TESTS.forEach((name, path) -> {
            if (name.endsWith("FuzzTest")
                    || name.matches("(Hostile|Flood).*")
                    || path.toString().contains("/integration/security/")) {
                attacks.add(name);
            }
        });

        assertThat(named()).containsAll(attacks);
        assertThat(attacks).hasSizeGreaterThan(15).contains("HostileNetworkIT");
    }

    /** Without inputs a fuzz test is an empty one in each build; without its module it is never fuzzed. */
    @Test
    void fuzzTestsHaveACorpusAndAreFuzzed() {
        String script = ProjectFiles.textOf(ProjectFiles.PROJECT.resolve("trigon"));
        Matcher modules = Pattern.compile("fuzzed=(\\S+)").matcher(script);

        assertThat(modules.find()).isTrue();
        Set<String> fuzzed = Set.of(modules.group(1).split(","));
        TESTS.forEach((name, path) -> {
            String source = ProjectFiles.textOf(ProjectFiles.PROJECT.resolve(path));
            if (source.contains("\n    @FuzzTest")) {
                String module = path.toString().replaceFirst("/src/.*", "");
                Path corpus = ProjectFiles.PROJECT.resolve(
                        path.toString().replace("/java/", "/resources/").replace(".java", "Inputs"));
                assertThat(fuzzed).contains(module);
                assertThat(corpus)
                        .as("corpus of %s", name)
                        .satisfies(Files::isDirectory)
                        .isNotEmptyDirectory();
            }
        });
    }

    @Test
    void thePageSaysHowLongTheyAreFuzzed() {
        Matcher length = LENGTH.matcher(ProjectFiles.textOf(PAGE));

        assertThat(length.find()).isTrue();
        assertThat(ProjectFiles.textOf(ProjectFiles.PROJECT.resolve(".ci/run")))
                .contains("./trigon fuzz " + length.group(1) + "s\n");
    }

    private static Set<String> named() {
        return ROW.matcher(ProjectFiles.textOf(PAGE))
                .results()
                .flatMap(row -> NAME.matcher(row.group(1)).results())
                .map(name -> name.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static Map<String, Path> tests() {
        Map<String, Path> tests = new TreeMap<>();
        ProjectFiles.matching(file -> file.toString().matches(".*(Test|IT)\\.java"))
                .forEach(file -> tests.put(
                        Path.of(file.path()).getFileName().toString().replace(".java", ""), Path.of(file.path())));
        return tests;
    }
}
