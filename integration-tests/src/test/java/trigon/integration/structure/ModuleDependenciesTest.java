package trigon.integration.structure;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import trigon.integration.testsupport.ProjectFiles;

/**
 * Which modules a module may use is said three times, each time the same. {@link ArchitectureTest} holds the classes
 * against it.
 */
class ModuleDependenciesTest {

    private static final Pattern ROW = Pattern.compile("(?m)^ \\w[^│\n]*│((?: +[a-z-]+)+)$");
    private static final Pattern ARTIFACT = Pattern.compile("<artifactId>([\\w.-]+)</artifactId>");
    private static final Pattern EXPLAINED = Pattern.compile("(?m)^\\| \\w+ \\| (`.*`) \\| \\w.* \\|$");
    private static final List<ReactorModule> MODULES = ReactorModule.all();

    @Test
    void readmesSayWhatPomsSay() {
        List<String> wrong = new ArrayList<>();
        for (ReactorModule module : MODULES) {
            differences(module.mayUse(), module.dependencies())
                    .forEach(each -> wrong.add("%s/README.md, May use: %s".formatted(module.folder(), each)));
        }

        assertThat(wrong)
                .as("\"May use\" of a module's README, beside the dependencies of its pom that are not for tests")
                .isEmpty();
    }

    @Test
    void moduleInfosSayWhatPomsSay() {
        Map<String, String> javaNames = new HashMap<>();
        MODULES.stream()
                .filter(ReactorModule::hasModuleInfo)
                .forEach(module -> javaNames.put(module.name(), module.javaName()));
        List<String> wrong = new ArrayList<>();
        for (ReactorModule module : MODULES) {
            if (module.hasModuleInfo()) {
                Set<String> dependencies = new TreeSet<>();
                module.dependencies().forEach(each -> dependencies.add(javaNames.getOrDefault(each, each)));
                differences(module.required(), dependencies)
                        .forEach(each -> wrong.add("module-info of %s: %s".formatted(module, each)));
            }
        }

        assertThat(wrong).as("module-infos, beside the dependencies of poms").isEmpty();
    }

    /** The rows of the architecture's picture, from the top. */
    @Test
    void thePictureHasEachModuleBelowAllThatUseIt() {
        String page = ProjectFiles.textOf(ProjectFiles.PROJECT.resolve("docs/design/architecture.md"));
        List<Set<String>> rows = ROW.matcher(page)
                .results()
                .map(row -> Set.of(row.group(1).strip().split(" +")))
                .toList();
        List<String> wrong = new ArrayList<>();
        Set<String> above = new TreeSet<>();
        for (Set<String> row : rows) {
            above.addAll(row);
            for (String name : row) {
                dependenciesOf(name).stream()
                        .filter(above::contains)
                        .forEach(each -> wrong.add("%s uses %s, which is in no lower row".formatted(name, each)));
            }
        }

        assertThat(wrong)
                .as("the picture of modules in docs/design/architecture.md")
                .isEmpty();
        assertThat(rows.stream().flatMap(Set::stream))
                .as("the modules of that picture")
                .containsExactlyInAnyOrderElementsOf(
                        MODULES.stream().map(ReactorModule::name).toList());
    }

    /** Maven's own plugins and lists of versions need no reason. */
    @Test
    void eachDependencyHasItsReason() {
        Set<String> used = new TreeSet<>();
        ProjectFiles.matching(file -> file.endsWith("pom.xml"))
                .forEach(pom -> ARTIFACT.matcher(pom.text())
                        .results()
                        .map(artifact -> artifact.group(1))
                        .filter(name -> !name.matches("trigon.*|maven-.*-plugin|.*-bom"))
                        .forEach(used::add));
        String page = ProjectFiles.textOf(ProjectFiles.PROJECT.resolve("docs/design/decisions/0007-dependencies.md"));
        Set<String> explained = new TreeSet<>();
        EXPLAINED
                .matcher(page)
                .results()
                .forEach(row ->
                        explained.addAll(List.of(row.group(1).replace("`", "").split(", "))));

        assertThat(explained).as("the table of decision 7, beside all poms").isEqualTo(used);
    }

    /** Its jars are not on the plugin's class path, and tests are not shipped. */
    @Test
    void thePluginDoesNotNeedWhatIsNotInIt() {
        Set<String> plugin = new TreeSet<>(Set.of("native-entry"));
        List<String> next = new ArrayList<>(plugin);
        while (!next.isEmpty()) {
            dependenciesOf(next.removeLast()).stream().filter(plugin::add).forEach(next::add);
        }

        assertThat(plugin)
                .contains("transport", "verbs")
                .doesNotContain("tools", "policy-commands", "cluster", "report", "test-support");
    }

    private static Set<String> dependenciesOf(String name) {
        return MODULES.stream()
                .filter(module -> module.name().equals(name))
                .findFirst()
                .orElseThrow()
                .dependencies();
    }

    private static List<String> differences(Set<String> said, Set<String> wanted) {
        List<String> differences = new ArrayList<>();
        wanted.stream().filter(each -> !said.contains(each)).forEach(each -> differences.add(each + " is missing"));
        said.stream().filter(each -> !wanted.contains(each)).forEach(each -> differences.add(each + " is too much"));
        return differences;
    }
}
