package trigon.integration.structure;

import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.EvaluationResult;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

/** Dependencies between the project's top folders, and the names of packages in them. */
class FoldersTest {

    private static final JavaClasses CLASSES = ProjectClasses.ALL;

    /** Beginnings of packages that are not named as their module's folder. */
    private static final Map<String, String> NAMED_OTHERWISE = Map.of(
            "trace/recorder", "trigon.trace",
            "trace/report", "trigon.report",
            "policy/engine", "trigon.policy",
            "native-entry", "trigon.entry",
            "testing/support", "trigon.testsupport");

    /** Benchmarks and stress tests lie in the packages of what they try. */
    private static final Set<String> NAMED_AS_OTHERS = Set.of("testing/benchmarks", "testing/stress");

    @Test
    void foldersHaveNoLoops() {
        withoutLoops(ProjectClasses::folderOf).check(CLASSES);
    }

    /** Streams use verbs, and software verbs use streams: as one folder, both kinds of verbs would be in a loop. */
    @Test
    void findsALoop() {
        EvaluationResult planted = withoutLoops(type ->
                        ProjectClasses.folderOf(type).map(folder -> folder.equals("software") ? "verbs" : folder))
                .evaluate(CLASSES);

        assertThat(planted.hasViolation()).isTrue();
        assertThat(String.join("\n", planted.getFailureReport().getDetails()))
                .contains("Slice stream", "Slice verbs", "trigon.software");
    }

    @Test
    void verbsUseSystemAlone() {
        assertThat(usedBy("verbs"::equals)).containsExactly("system", "verbs");
    }

    /** Policies, and the commands for them, are found as services; only benchmarks measure their engine. */
    @Test
    void noFolderOfThePluginOrTheToolsUsesPolicy() {
        assertThat(usedBy("policy"::equals)).contains("policy");
        assertThat(usedBy(folder -> !folder.equals("policy") && !folder.equals("testing")))
                .contains("tools", "native-entry")
                .doesNotContain("policy");
    }

    @Test
    void packagesAreNamedAsTheirFolders() {
        Set<String> wrong = new TreeSet<>();
        for (ReactorModule module : ReactorModule.all()) {
            String folder = module.folder().toString();
            String name = NAMED_OTHERWISE.getOrDefault(
                    folder, "trigon." + folder.replace("-", "").replace('/', '.'));
            if (!NAMED_AS_OTHERS.contains(folder)) {
                module.packages().stream()
                        .filter(each -> !each.equals(name) && !each.startsWith(name + "."))
                        .forEach(each -> wrong.add("%s has %s".formatted(folder, each)));
            }
        }

        assertThat(wrong).as("packages that are not named as their folder").isEmpty();
    }

    private static Set<String> usedBy(Predicate<String> folders) {
        Set<String> used = new TreeSet<>();
        for (JavaClass type : CLASSES) {
            if (ProjectClasses.folderOf(type).filter(folders).isPresent()) {
                for (Dependency each : type.getDirectDependenciesFromSelf()) {
                    ProjectClasses.folderOf(each.getTargetClass().getBaseComponentType())
                            .ifPresent(used::add);
                }
            }
        }
        return used;
    }

    private static ArchRule withoutLoops(Function<JavaClass, Optional<String>> folders) {
        return slices().assignedFrom(new Folders(folders)).should().beFreeOfCycles();
    }

    /**
     * Classes by folder.
     *
     * @param folder of a class; empty for one that is not the project's
     */
    private record Folders(Function<JavaClass, Optional<String>> folder) implements SliceAssignment {

        @Override
        public String getDescription() {
            return "the project's folders";
        }

        @Override
        public SliceIdentifier getIdentifierOf(JavaClass type) {
            return folder.apply(type).map(SliceIdentifier::of).orElse(SliceIdentifier.ignore());
        }
    }
}
