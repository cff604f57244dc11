package trigon.integration.structure;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import trigon.integration.testsupport.ProjectFiles;
import trigon.integration.testsupport.ProjectFiles.TextFile;

/**
 * Each table of docs/measurements says on which kind of machine it was measured, and by which command; the commands,
 * and the columns that they print, are there.
 */
class MeasurementsTest {

    private static final Pattern MACHINE =
            Pattern.compile("\\*\\*(?:\\w+\\. )?Machine\\s\\((?:hardware|simulated|emulated)(?:, [^)]+)?\\):\\*\\*");
    private static final Pattern COMMAND = Pattern.compile("\\*\\*Commands?:\\*\\*");
    private static final Pattern TABLE = Pattern.compile("(?m)^(\\|.*\\|)\n\\|[-:|]+\\|$");
    private static final Pattern SECTION = Pattern.compile("(?m)^## .*$");
    private static final Pattern CODE = Pattern.compile("`([^`]+)`|(?m:^ {4}(.+)$)");
    private static final Pattern CONTINUED = Pattern.compile("\\\\\n *");
    private static final Pattern OPTION = Pattern.compile("(?<= )--[a-z][a-z-]*");
    private static final Pattern NAMED_TEST = Pattern.compile("-D(?:it\\.)?test=(\\w+)");
    private static final Pattern PROPERTY = Pattern.compile("-D(trigon\\.[\\w.]+)=");
    private static final Pattern BENCHMARK = Pattern.compile("\\./trigon benchmarks (\\w[\\w-]*)((?: [\\w,.:]+)*)");

    /** By command, the source of the table that it prints. */
    private static final Map<String, String> PRINTED = Map.of(
            "./trigon benchmarks announcements", "relay/src/test/java/trigon/relay/topology/ConvergenceTest.java",
            "./trigon benchmarks footprint", "testing/benchmarks/footprint.sh",
            "./trigon benchmarks trace", "testing/benchmarks/trace.sh");

    private static final List<TextFile> PAGES = ProjectFiles.matching(
            file -> file.toString().contains("/docs/measurements/") && !file.endsWith("benchmarks.md"));

    /**
     * A table with what a reader has read before it.
     *
     * @param before the page up to its first section, and this section up to the table
     */
    private record Table(String place, String head, String before) {}

    @Test
    void eachTableHasItsMachineAndItsCommand() {
        List<String> wrong = new ArrayList<>();
        for (Table table : tables()) {
            if (!MACHINE.matcher(table.before()).find()) {
                wrong.add(table.place() + ": no **Machine (hardware, simulated or emulated):**");
            }
            if (!COMMAND.matcher(table.before()).find()) {
                wrong.add(table.place() + ": no **Command:**");
            }
        }

        assertThat(wrong).isEmpty();
        assertThat(tables()).hasSizeGreaterThan(20);
    }

    @Test
    void theCommandsAreThere() {
        String help = textOf("dist/help/developers/benchmarks.txt");
        List<String> wrong = new ArrayList<>();
        for (TextFile page : PAGES) {
            for (String code : codeOf(page.text())) {
                BENCHMARK.matcher(code).results().forEach(found -> checkBenchmark(page, help, found, wrong));
                checkScript(page, code, wrong);
            }
        }

        assertThat(wrong).isEmpty();
    }

    @Test
    void testsAndTheirPropertiesAreThere() {
        List<TextFile> sources = ProjectFiles.matching(file -> file.toString().endsWith(".java"));
        String all = sources.stream().map(TextFile::text).collect(Collectors.joining());
        Set<String> classes = sources.stream()
                .map(source -> Path.of(source.path()).getFileName().toString().replace(".java", ""))
                .collect(Collectors.toSet());
        Set<String> missing = new TreeSet<>();
        for (TextFile page : PAGES) {
            named(NAMED_TEST, page)
                    .filter(name -> !classes.contains(name))
                    .forEach(name -> missing.add(page.path() + ": " + name));
            named(PROPERTY, page)
                    .filter(name -> !all.contains("\"" + name + "\""))
                    .forEach(name -> missing.add(page.path() + ": " + name));
        }

        assertThat(missing).isEmpty();
    }

    @Test
    void theColumnsAreThoseThatTheCommandPrints() {
        List<String> wrong = new ArrayList<>();
        List<String> compared = new ArrayList<>();
        for (Table table : tables()) {
            String command = table.before().substring(table.before().lastIndexOf("**Command"));
            PRINTED.forEach((name, source) -> {
                if (command.contains(name)) {
                    compared.add(table.place());
                    String printed = textOf(source);
                    Stream.of(table.head().split("\\|"))
                            .map(String::strip)
                            .filter(head -> !head.isEmpty() && !printed.contains(head))
                            .forEach(head ->
                                    wrong.add("%s: %s does not print \"%s\"".formatted(table.place(), source, head)));
                }
            });
        }

        assertThat(wrong).isEmpty();
        assertThat(compared).hasSizeGreaterThanOrEqualTo(PRINTED.size());
    }

    /** Its name, and no more words than its help has behind the name. */
    private static void checkBenchmark(TextFile page, String help, MatchResult found, List<String> wrong) {
        long words = Stream.of(found.group(2).split(" "))
                .filter(word -> !word.isEmpty())
                .count();
        var usage = Pattern.compile("(?m)^  " + found.group(1) + " ?(.*)$").matcher(help);
        if (!usage.find()) {
            wrong.add("%s: no benchmark %s".formatted(page.path(), found.group(1)));
        } else if (words > 0 && usage.group(1).split("[\\[A-Z]", -1).length <= words) {
            wrong.add("%s: %s: more words than in its help".formatted(page.path(), found.group()));
        }
    }

    /** A script of the project, whose folder's sources name each option. */
    private static void checkScript(TextFile page, String code, List<String> wrong) {
        String script = Stream.of(code.split(" "))
                .filter(word -> !word.contains("="))
                .findFirst()
                .orElse("");
        if (!script.matches("[a-z][\\w-]*/.*\\.(sh|py)")) {
            return;
        }
        Path file = ProjectFiles.PROJECT.resolve(script);
        if (!Files.exists(file)) {
            wrong.add(page.path() + ": no " + script);
            return;
        }
        String sources = ProjectFiles.matching(each -> Objects.equals(each.getParent(), file.getParent())).stream()
                .map(TextFile::text)
                .collect(Collectors.joining());
        OPTION.matcher(code)
                .results()
                .map(MatchResult::group)
                .filter(option -> !sources.contains(option))
                .forEach(option -> wrong.add("%s: %s has no %s".formatted(page.path(), script, option)));
    }

    private static List<Table> tables() {
        List<Table> tables = new ArrayList<>();
        for (TextFile page : PAGES) {
            String[] sections = SECTION.split(page.text(), -1);
            for (int section = 0; section < sections.length; section++) {
                String opening = section == 0 ? "" : sections[0];
                String text = sections[section];
                TABLE.matcher(text)
                        .results()
                        .forEach(table -> tables.add(new Table(
                                page.path() + " " + table.group(1),
                                table.group(1),
                                opening + text.substring(0, table.start()))));
            }
        }
        return tables;
    }

    private static List<String> codeOf(String text) {
        return CODE.matcher(CONTINUED.matcher(text).replaceAll(" "))
                .results()
                .map(code -> code.group(1) == null ? code.group(2) : code.group(1))
                .map(code -> code.replaceAll("\\s+", " ").strip())
                .toList();
    }

    private static Stream<String> named(Pattern pattern, TextFile page) {
        return pattern.matcher(page.text()).results().map(found -> found.group(1));
    }

    private static String textOf(String file) {
        return ProjectFiles.textOf(ProjectFiles.PROJECT.resolve(file));
    }
}
