package trigon.integration.structure;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import trigon.integration.testsupport.ProjectFiles;

/** The classes of all modules on the class path of these tests; no tests. */
final class ProjectClasses {

    static final JavaClasses ALL = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .withImportOption(location -> !location.contains("/test-classes/") && !location.contains("-tests.jar"))
            .importPackages("trigon");

    private static final List<ReactorModule> MODULES = ReactorModule.all();
    private static final String PROJECT = ProjectFiles.PROJECT.toUri().getPath();

    private ProjectClasses() {}

    /** The first two parts of the names of all packages, such as {@code trigon.verbs}. */
    static Set<String> roots() {
        Set<String> roots = new TreeSet<>();
        for (JavaClass each : ALL) {
            String[] parts = each.getPackageName().split("\\.", 3);
            roots.add(parts[0] + "." + parts[1]);
        }
        return roots;
    }

    /** The name of the module that a class was compiled in, as its class file's or jar's place says. */
    static Optional<String> moduleOf(JavaClass type) {
        return compiledIn(type).map(ReactorModule::name);
    }

    /** The top folder of the project that a class was compiled in, such as {@code trace}. */
    static Optional<String> folderOf(JavaClass type) {
        return compiledIn(type).map(ReactorModule::topFolder);
    }

    private static Optional<ReactorModule> compiledIn(JavaClass type) {
        return type.getSource()
                .map(source -> source.getUri().toString())
                .flatMap(uri -> MODULES.stream()
                        .filter(module -> uri.contains(PROJECT + module.folder() + "/"))
                        .findFirst());
    }
}
