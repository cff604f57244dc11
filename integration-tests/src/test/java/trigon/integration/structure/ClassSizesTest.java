package trigon.integration.structure;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaMethod;
import com.tngtech.archunit.core.domain.JavaModifier;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import trigon.integration.testsupport.ProjectFiles;

/**
 * A class has one job: few methods, and few types of the project that it works with. The classes above the limits are
 * in {@code large-classes.txt}, each with its numbers, which only go down.
 */
class ClassSizesTest {

    private static final int MAX_METHODS = 20;
    private static final int MAX_COLLABORATORS = 15;
    private static final String LIST = "large-classes.txt";

    /** The package of bindings that jextract generates. */
    private static final String GENERATED = ".generated";

    /** Benchmarks, stress tests and what tests share. */
    private static final String TESTING = "testing";

    /** The numbers of a class, or, in the list, those that it may have. */
    private record Size(int methods, int collaborators) {

        boolean isLarge() {
            return methods > MAX_METHODS || collaborators > MAX_COLLABORATORS;
        }

        boolean isAtMost(Size other) {
            return methods <= Math.max(other.methods, MAX_METHODS)
                    && collaborators <= Math.max(other.collaborators, MAX_COLLABORATORS);
        }
    }

    @Test
    void classesHaveFewMethodsAndCollaborators() throws IOException {
        Map<String, Size> allowed = allowed();
        Map<String, Size> larger = new TreeMap<>();
        large().forEach((name, size) -> {
            if (!size.isAtMost(allowed.getOrDefault(name, new Size(0, 0)))) {
                larger.put(name, size);
            }
        });

        assertThat(larger)
                .as(
                        "classes with more than %d methods or %d collaborators, or with more than %s allows",
                        MAX_METHODS, MAX_COLLABORATORS, LIST)
                .isEmpty();
    }

    /** What has become smaller does not grow again. */
    @Test
    void theListIsAsShortAsItCanBe() throws IOException {
        assertThat(allowed()).as(LIST).containsExactlyInAnyOrderEntriesOf(large());
    }

    private static Map<String, Size> large() {
        Map<String, Set<String>> collaborators = new HashMap<>();
        Map<String, Integer> methods = new HashMap<>();
        for (JavaClass type : ProjectClasses.ALL) {
            boolean isCounted = !ProjectClasses.folderOf(type).orElse(TESTING).equals(TESTING)
                    && !type.getPackageName().endsWith(GENERATED);
            if (isCounted) {
                String name = outermost(type);
                methods.merge(name, methods(type), Math::max);
                Set<String> known = collaborators.computeIfAbsent(name, _ -> new TreeSet<>());
                for (Dependency dependency : type.getDirectDependenciesFromSelf()) {
                    JavaClass other = dependency.getTargetClass().getBaseComponentType();
                    if (other.getPackageName().startsWith("trigon")
                            && !outermost(other).equals(name)) {
                        known.add(outermost(other));
                    }
                }
            }
        }
        Map<String, Size> large = new TreeMap<>();
        collaborators.forEach((name, known) -> {
            Size size = new Size(methods.getOrDefault(name, 0), known.size());
            if (size.isLarge()) {
                large.put(name, size);
            }
        });
        return large;
    }

    /** Those that somebody wrote: no accessors of records, and no bridges. */
    private static int methods(JavaClass type) {
        return (int) type.getMethods().stream()
                .filter(method -> !method.getModifiers().contains(JavaModifier.SYNTHETIC)
                        && !method.getName().startsWith("lambda$")
                        && !isGiven(type, method))
                .count();
    }

    private static boolean isGiven(JavaClass type, JavaMethod method) {
        return (type.isEnum() && Set.of("values", "valueOf").contains(method.getName()))
                || (type.isRecord()
                        && (Set.of("equals", "hashCode", "toString").contains(method.getName())
                                || type.tryGetField(method.getName()).isPresent()));
    }

    private static String outermost(JavaClass type) {
        return type.getName().replaceFirst("\\$.*", "");
    }

    private static Map<String, Size> allowed() throws IOException {
        Map<String, Size> allowed = new TreeMap<>();
        Path list = ProjectFiles.PROJECT
                .resolve("integration-tests/src/test/resources")
                .resolve(LIST);
        for (String line : Files.readAllLines(list, StandardCharsets.UTF_8)) {
            if (!line.startsWith("#")) {
                String[] words = line.split(" +", -1);
                allowed.put(words[0], new Size(Integer.parseInt(words[1]), Integer.parseInt(words[2])));
            }
        }
        return allowed;
    }
}
