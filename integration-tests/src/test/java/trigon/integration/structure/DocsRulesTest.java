package trigon.integration.structure;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import trigon.integration.structure.MarkdownPage.Sentence;
import trigon.integration.testsupport.ProjectFiles;
import trigon.integration.testsupport.ProjectFiles.TextFile;

/** The rules for the texts that people read: they are short, their links lead somewhere, and there is a way to each. */
class DocsRulesTest {

    private static final int MAX_WORDS_OF_A_SENTENCE = 40;
    private static final int MAX_WORDS_OF_THE_README = 850;
    private static final int MAX_WORDS_OF_A_DECISION = 400;
    private static final int MAX_LINES_OF_A_MODULES_README = 16;

    private static final String README = "README.md";

    private static final Pattern EXTERNAL = Pattern.compile("(https?|mailto):.*");
    private static final Pattern VERSION = Pattern.compile("<revision>([0-9.]+)(-SNAPSHOT)?</revision>");
    private static final Pattern NEWEST_CHANGES = Pattern.compile("(?m)^## ([0-9.]+)( \\(not released yet\\))?");
    private static final Pattern PATH_OF_A_PAGE = Pattern.compile("\\bdocs/[a-z][\\w./-]*\\w");

    private static final Pattern DECISION = Pattern.compile("docs/design/decisions/[0-9].*");
    private static final Pattern TEST = Pattern.compile("`([A-Z]\\w+Test)`");

    private static final Map<String, MarkdownPage> PAGES = pages();

    @Test
    void linksLeadSomewhere() {
        List<String> broken = new ArrayList<>();
        for (MarkdownPage page : PAGES.values()) {
            for (String link : page.links()) {
                if (!EXTERNAL.matcher(link).matches() && !leadsSomewhere(page, link)) {
                    broken.add(link + " in " + page.path());
                }
            }
        }

        assertThat(broken).as("links to files or anchors that are not there").isEmpty();
    }

    @Test
    void everyPageCanBeReachedFromTheReadme() {
        Set<String> unreached = new TreeSet<>(PAGES.keySet());
        List<String> next = new ArrayList<>(List.of(README));
        while (!next.isEmpty()) {
            String path = next.removeLast();
            if (unreached.remove(path)) {
                MarkdownPage page = page(path);
                page.links().stream()
                        .filter(link -> !EXTERNAL.matcher(link).matches())
                        .map(link -> fileOf(page, link).toString())
                        .forEach(next::add);
            }
        }

        assertThat(unreached).as("pages that no other leads to").isEmpty();
    }

    @Test
    void sentencesAreShort() {
        List<String> tooLong = new ArrayList<>();
        for (MarkdownPage page : PAGES.values()) {
            page.sentences().stream()
                    .filter(sentence -> sentence.words() > MAX_WORDS_OF_A_SENTENCE)
                    .forEach(sentence ->
                            tooLong.add("%s, %d: %s".formatted(page.path(), sentence.words(), sentence.text())));
        }

        assertThat(tooLong)
                .as("sentences of more than %d words", MAX_WORDS_OF_A_SENTENCE)
                .isEmpty();
    }

    @Test
    void theReadmeIsRead() {
        String readme = textOf(README);

        assertThat(readme.strip().split("\\s+"))
                .as("words of the README")
                .hasSizeLessThanOrEqualTo(MAX_WORDS_OF_THE_README);
    }

    /** Tables and code are not counted. */
    @Test
    void decisionsAreShort() {
        Map<String, Integer> tooLong = new TreeMap<>();
        for (MarkdownPage page : PAGES.values()) {
            int words = page.sentences().stream().mapToInt(Sentence::words).sum();
            if (DECISION.matcher(page.path()).matches() && words > MAX_WORDS_OF_A_DECISION) {
                tooLong.put(page.path(), words);
            }
        }

        assertThat(tooLong)
                .as("decisions of more than %d words", MAX_WORDS_OF_A_DECISION)
                .isEmpty();
    }

    @Test
    void everyModuleSaysInAFewLinesWhatItIsFor() {
        for (ReactorModule module : ReactorModule.all()) {
            assertThat(module.readme())
                    .as("%s/README.md", module.folder())
                    .startsWith("# " + module + "\n")
                    .contains("**May use**", "**Start reading**");
            assertThat(module.readme().lines().filter(line -> !line.isBlank()))
                    .as("lines of %s/README.md", module.folder())
                    .hasSizeLessThanOrEqualTo(MAX_LINES_OF_A_MODULES_README);
        }
    }

    @Test
    void theChangesBeginWithThisVersion() {
        Matcher version = VERSION.matcher(textOf("pom.xml"));
        Matcher newest = NEWEST_CHANGES.matcher(textOf("CHANGELOG.md"));

        assertThat(version.find()).as("a version in pom.xml").isTrue();
        assertThat(newest.find()).as("a version in CHANGELOG.md").isTrue();
        assertThat(newest.group(1)).isEqualTo(version.group(1));
        assertThat(newest.group(2) != null).as("not released yet").isEqualTo(version.group(2) != null);
    }

    /** In comments and messages. A decision may be named by its number. */
    @Test
    void pagesThatTheSourcesNameAreThere() {
        List<String> missing = new ArrayList<>();
        for (TextFile source : ProjectFiles.matching(DocsRulesTest::namesPages)) {
            PATH_OF_A_PAGE
                    .matcher(source.text())
                    .results()
                    .map(result -> result.group())
                    .filter(path -> !isThere(path))
                    .forEach(path -> missing.add(path + " in " + source.path()));
        }

        assertThat(missing).isEmpty();
    }

    /** A claim whose test has another name by now is not shown by any. */
    @Test
    void testsThatThePagesNameAreThere() {
        Set<String> tests = new TreeSet<>();
        ProjectFiles.matching(file -> file.toString().endsWith("Test.java"))
                .forEach(test -> tests.add(Path.of(test.path()).getFileName().toString()));
        List<String> missing = new ArrayList<>();
        for (TextFile page : ProjectFiles.matching(file -> file.startsWith(ProjectFiles.PROJECT.resolve("docs")))) {
            TEST.matcher(page.text())
                    .results()
                    .map(result -> result.group(1))
                    .filter(test -> !tests.contains(test + ".java"))
                    .forEach(test -> missing.add(test + " in " + page.path()));
        }

        assertThat(missing).as("names of tests that are not there").isEmpty();
    }

    @Test
    void looksAtAllPages() {
        assertThat(PAGES).containsKeys(README, "docs/README.md", "docs/guide/install.md", "verbs/README.md");
        MarkdownPage install = page("docs/guide/install.md");
        assertThat(install.links()).contains("configure.md");
        assertThat(install.anchors()).contains("containers", "what-is-in-the-folder");
        assertThat(install.sentences()).extracting(Sentence::text).contains("The nodes need no Java.");
    }

    private static boolean leadsSomewhere(MarkdownPage page, String link) {
        Path file = fileOf(page, link);
        int anchor = link.indexOf('#');
        if (!Files.exists(ProjectFiles.PROJECT.resolve(file))) {
            return false;
        }
        MarkdownPage target = PAGES.get(file.toString());
        return anchor < 0 || (target != null && target.anchors().contains(link.substring(anchor + 1)));
    }

    private static Path fileOf(MarkdownPage page, String link) {
        int anchor = link.indexOf('#');
        String file = anchor < 0 ? link : link.substring(0, anchor);
        return file.isEmpty() ? Path.of(page.path()) : page.resolve(file);
    }

    private static boolean isThere(String path) {
        return Files.exists(ProjectFiles.PROJECT.resolve(path))
                || PAGES.keySet().stream().anyMatch(page -> page.startsWith(path + "-"));
    }

    private static boolean namesPages(Path file) {
        return file.toString().endsWith(".yaml") || SourceRulesTest.isSource(file);
    }

    private static MarkdownPage page(String path) {
        return Optional.ofNullable(PAGES.get(path)).orElseThrow(() -> new AssertionError("there is no page " + path));
    }

    private static String textOf(String path) {
        List<TextFile> found = ProjectFiles.matching(ProjectFiles.PROJECT.resolve(path)::equals);
        assertThat(found).as(path).hasSize(1);
        return found.getFirst().text();
    }

    private static Map<String, MarkdownPage> pages() {
        Map<String, MarkdownPage> pages = new HashMap<>();
        for (TextFile file : ProjectFiles.matching(path -> path.toString().endsWith(".md"))) {
            pages.put(file.path(), MarkdownPage.of(file));
        }
        return pages;
    }
}
