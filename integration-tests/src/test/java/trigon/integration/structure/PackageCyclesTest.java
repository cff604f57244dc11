package trigon.integration.structure;

import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a reader has to know before he can read a package, or a type: something that comes before it, never itself. */
class PackageCyclesTest {

    private static final JavaClasses CLASSES = ProjectClasses.ALL;

    static Set<String> roots() {
        return ProjectClasses.roots();
    }

    @ParameterizedTest
    @MethodSource("roots")
    void packagesHaveNoCycles(String root) {
        Function<JavaClass, Optional<String>> packages = type ->
                Optional.of(type.getPackageName()).filter(name -> name.equals(root) || name.startsWith(root + "."));

        slices().assignedFrom(new Named("the packages of " + root, packages))
                .should()
                .beFreeOfCycles()
                .check(CLASSES);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "trigon.config",
                "trigon.config.setting",
                "trigon.config.cluster",
                "trigon.verbs",
                "trigon.routing",
                "trigon.routing.discovery",
                "trigon.routing.table",
                "trigon.qpstate",
                "trigon.entry",
                "trigon.entry.warmup",
                "trigon.entry.net",
                "trigon.entry.host",
                "trigon.entry.log"
            })
    void typesHaveNoCycles(String packageName) {
        Function<JavaClass, Optional<String>> types = type -> Optional.of(type)
                .filter(each -> each.getPackageName().equals(packageName))
                .map(each -> outermost(each).getName());

        slices().assignedFrom(new Named("the types of " + packageName, types))
                .should()
                .beFreeOfCycles()
                .check(CLASSES);
    }

    private static JavaClass outermost(JavaClass type) {
        return type.getEnclosingClass().map(PackageCyclesTest::outermost).orElse(type);
    }

    /**
     * What slices are there.
     *
     * @param slice the name of a type's; empty for a type that is in none
     */
    private record Named(String getDescription, Function<JavaClass, Optional<String>> slice)
            implements SliceAssignment {

        @Override
        public SliceIdentifier getIdentifierOf(JavaClass type) {
            return slice.apply(type).map(SliceIdentifier::of).orElse(SliceIdentifier.ignore());
        }
    }
}
