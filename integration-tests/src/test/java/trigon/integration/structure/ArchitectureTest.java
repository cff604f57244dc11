package trigon.integration.structure;

import static com.tngtech.archunit.core.domain.JavaCall.Predicates.target;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.assignableTo;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.nameMatching;
import static com.tngtech.archunit.core.domain.properties.HasOwner.Predicates.With.owner;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import trigon.integration.testsupport.ProjectFiles;

/** The rules that keep the structure: who may depend on whom, and who may touch what. */
class ArchitectureTest {

    private static final JavaClasses CLASSES = ProjectClasses.ALL;
    private static final List<ReactorModule> MODULES = ReactorModule.all();

    private static final Pattern COMMENT = Pattern.compile("(?s)/\\*.*?\\*/|//[^\n]*");
    private static final Pattern DESCRIPTION = Pattern.compile("(?s)/\\*\\*\\s.*?\\w.*?\\*/\\s*(?:@\\w+\\s+)*package ");
    private static final Pattern PACKAGE_NAME = Pattern.compile("\\btrigon(?:\\.[a-z]\\w*)+");

    /** How many classes may know each other in circles. */
    private static final int MAX_IN_A_KNOT = 4;

    /** Where there are more, with the reason: the ends of the protocols are sealed, and one turns into another. */
    private static final Map<String, Integer> LARGER_KNOTS = Map.of(
            "trigon.transport", 7,
            "trigon.software", 6, // a device, what is open on it, and what leads back to it
            "trigon.tools", 6); // a sealed type and its kinds

    /** {@link ModuleDependenciesTest} compares what may be used with the poms. */
    @Test
    void classesUseOnlyModulesThatTheirModuleMayUse() {
        Map<String, String> modules = new HashMap<>();
        CLASSES.forEach(type -> ProjectClasses.moduleOf(type).ifPresent(module -> modules.put(type.getName(), module)));
        Set<String> wrong = new TreeSet<>();
        for (JavaClass type : CLASSES) {
            String module = Objects.requireNonNull(modules.get(type.getName()), type::getName);
            Set<String> mayUse = mayUse(module);
            for (Dependency dependency : type.getDirectDependenciesFromSelf()) {
                JavaClass target = dependency.getTargetClass().getBaseComponentType();
                String used = modules.getOrDefault(target.getName(), module);
                if (!used.equals(module) && !mayUse.contains(used)) {
                    wrong.add("%s may not use %s: %s".formatted(module, used, dependency.getDescription()));
                }
            }
        }

        assertThat(wrong)
                .as("uses of modules that are not in \"May use\" of the README")
                .isEmpty();
    }

    /**
     * The modules that are built after these tests, or by no compiler: their sources stand for their classes. A package
     * that two modules have lets one use the other without naming it.
     */
    @Test
    void sourcesWithoutClassesNameOnlyModulesThatTheirModuleMayUse() {
        Set<String> wrong = new TreeSet<>();
        for (ReactorModule module : MODULES) {
            if (!modulesWithClasses().contains(module.name())) {
                for (Path source : module.sources()) {
                    String code = COMMENT.matcher(ProjectFiles.textOf(source)).replaceAll("");
                    PACKAGE_NAME
                            .matcher(code)
                            .results()
                            .map(name -> name.group())
                            .forEach(name -> {
                                Set<String> others = othersWith(name, module);
                                if (!others.isEmpty() && Collections.disjoint(others, module.mayUse())) {
                                    wrong.add("%s may not use %s: %s".formatted(module, others, source));
                                }
                            });
                }
            }
        }

        assertThat(wrong)
                .as("uses of modules that are not in \"May use\" of the README")
                .isEmpty();
    }

    /** One that is shipped, or that another one needs, is looked at by its classes. */
    @Test
    void looksAtAllModules() {
        Set<String> bySource = new TreeSet<>();
        MODULES.stream().filter(module -> !module.sources().isEmpty()).forEach(module -> bySource.add(module.name()));
        bySource.removeAll(modulesWithClasses());

        assertThat(modulesWithClasses()).contains("handshake", "policy", "report", "trace");
        for (ReactorModule module : MODULES) {
            assertThat(module.mayUse()).as("modules that %s uses", module).doesNotContainAnyElementsOf(bySource);
            assertThat(!module.hasModuleInfo() || modulesWithClasses().contains(module.name()))
                    .as("classes of %s: integration-tests must depend on it", module)
                    .isTrue();
        }
    }

    @Test
    void packagesHaveNoCycles() {
        slices().matching("trigon.(**)").should().beFreeOfCycles().check(CLASSES);
    }

    static Set<String> roots() {
        return ProjectClasses.roots();
    }

    @ParameterizedTest
    @MethodSource("roots")
    void subPackagesHaveNoCycles(String root) {
        slices().matching(root + ".(*)..")
                .should()
                .beFreeOfCycles()
                .allowEmptyShould(true)
                .check(CLASSES);
    }

    /** What cannot be understood, or tested, one by one stays small. */
    @ParameterizedTest
    @MethodSource("roots")
    void classesKnowFewOthersInCircles(String root) {
        assertThat(Knots.among(CLASSES, root))
                .isNotEmpty()
                .allSatisfy(knot ->
                        assertThat(knot).hasSizeLessThanOrEqualTo(LARGER_KNOTS.getOrDefault(root, MAX_IN_A_KNOT)));
    }

    /** Benchmarks and stress tests lie in the packages of what they try, which say it for them. */
    @Test
    void packagesSayWhatTheyAreFor() {
        Set<String> silent = new TreeSet<>();
        for (ReactorModule module : MODULES) {
            for (Path source : module.hasModuleInfo() ? module.sources() : List.<Path>of()) {
                Path description = source.resolveSibling("package-info.java");
                if (!Files.exists(description)
                        || !DESCRIPTION
                                .matcher(ProjectFiles.textOf(description))
                                .find()) {
                    silent.add(module + ": " + module.packageOf(source));
                }
            }
        }

        assertThat(silent).as("packages without a sentence on their role").isEmpty();
    }

    /** From NCCL's calls down to the queue pairs; whoever is further down knows nobody above. */
    @Test
    void theTransportIsBuiltInLayers() {
        String root = "trigon.transport.";
        layeredArchitecture()
                .consideringOnlyDependenciesInLayers()
                .layer("plugin")
                .definedBy(root + "plugin")
                .layer("failover")
                .definedBy(root + "failover")
                .layer("failure")
                .definedBy(root + "failure")
                .layer("session")
                .definedBy(root + "session")
                .layer("connect")
                .definedBy(root + "connect")
                .layer("protocol")
                .definedBy(root + "protocol")
                .layer("path")
                .definedBy(root + "path")
                .whereLayer("plugin")
                .mayNotBeAccessedByAnyLayer()
                .whereLayer("failover")
                .mayOnlyBeAccessedByLayers("plugin")
                .whereLayer("failure")
                .mayOnlyBeAccessedByLayers("plugin")
                .whereLayer("session")
                .mayOnlyBeAccessedByLayers("plugin", "failover", "failure")
                .whereLayer("connect")
                .mayOnlyBeAccessedByLayers("plugin", "failover")
                .whereLayer("protocol")
                .mayOnlyBeAccessedByLayers("plugin", "session", "connect", "failover")
                .whereLayer("path")
                .mayOnlyBeAccessedByLayers("plugin", "failover", "failure", "session", "connect", "protocol")
                .check(CLASSES);
    }

    /** From the verbs down to the wire; {@code requester} and {@code responder} are beside each other. */
    @Test
    void theSoftwareDeviceIsBuiltInLayers() {
        String root = "trigon.software.";
        layeredArchitecture()
                .consideringOnlyDependenciesInLayers()
                .layer("device")
                .definedBy(root + "device")
                .layer("requester")
                .definedBy(root + "requester")
                .layer("responder")
                .definedBy(root + "responder")
                .layer("connection")
                .definedBy(root + "connection")
                .layer("data")
                .definedBy(root + "call", root + "memory", root + "wire")
                .whereLayer("device")
                .mayNotBeAccessedByAnyLayer()
                .whereLayer("requester")
                .mayOnlyBeAccessedByLayers("device")
                .whereLayer("responder")
                .mayOnlyBeAccessedByLayers("device")
                .whereLayer("connection")
                .mayOnlyBeAccessedByLayers("device", "requester", "responder")
                .check(CLASSES);
    }

    /** What tests share may, too: it ends sockets behind their owners' backs, and is no part of the distribution. */
    @Test
    void onlyTheBordersToCLinkForeignFunctions() {
        noClasses()
                .that()
                .resideOutsideOfPackages(
                        "trigon.verbs.ffm..",
                        "trigon.system..",
                        "trigon.transport.request..",
                        "trigon.software.call..",
                        "trigon.onesided.cuda..",
                        "trigon.entry..",
                        "trigon.testsupport..")
                .should()
                .dependOnClassesThat()
                .belongToAnyOf(Linker.class, SymbolLookup.class)
                .check(CLASSES);
    }

    @Test
    void everyLibraryHasItsRoom() {
        noClasses()
                .that()
                .resideOutsideOfPackage("trigon.handshake..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("io.netty..")
                .because("Netty serves the handshake alone")
                .check(CLASSES);
        noClasses()
                .that()
                .resideOutsideOfPackages("trigon.config..", "trigon.cluster..", "trigon.report.view..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("com.fasterxml..", "org.yaml..")
                .because("only the settings are YAML, and only nodes, commands and reports have JSON")
                .check(CLASSES);
        noClasses()
                .that()
                .resideOutsideOfPackage("trigon.entry..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("ch.qos.logback..")
                .because("everything else logs through SLF4J")
                .check(CLASSES);
        noClasses()
                .that()
                .resideOutsideOfPackages("trigon.tools..", "trigon.policy.commands..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("picocli..")
                .because("the plugin has no command line")
                .check(CLASSES);
        noClasses()
                .that()
                .resideOutsideOfPackage("trigon.report..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("com.google.protobuf..")
                .because("only reports are written for Perfetto")
                .check(CLASSES);
    }

    /** They throw unchecked exceptions where what they read goes away meanwhile. */
    @Test
    void noStreamsOfFilesThatOthersChange() {
        noClasses()
                .that()
                .resideOutsideOfPackages("trigon.system.file", "trigon.dist")
                .should()
                .callMethodWhere(target(owner(assignableTo(Files.class)))
                        .and(target(nameMatching("lines|list|walk|find|newDirectoryStream"))))
                .because("Folder and Files.readString throw checked ones")
                .check(CLASSES);
    }

    /** And the main class of the tools, which hands it on. */
    @Test
    void onlyTheEntryReadsTheEnvironment() {
        noClasses()
                .that()
                .resideOutsideOfPackages("trigon.entry..", "trigon.tools")
                .should()
                .callMethod(System.class, "getenv")
                .orShould()
                .callMethod(System.class, "getenv", String.class)
                .check(CLASSES);
    }

    /** The main class of the tools is no guest. */
    @Test
    void aGuestNeitherEndsTheProcessNorWritesToItsOutput() {
        // jextract's own tracing prints, if a system property asks for it
        noClasses()
                .that()
                .resideOutsideOfPackages("trigon.verbs.ffm.generated..", "trigon.tools")
                .should()
                .callMethod(System.class, "exit", int.class)
                .orShould()
                .callMethod(Runtime.class, "exit", int.class)
                .orShould()
                .callMethod(Runtime.class, "halt", int.class)
                .orShould()
                .accessField(System.class, "out")
                .check(CLASSES);
    }

    private static Set<String> mayUse(String name) {
        return MODULES.stream()
                .filter(module -> module.name().equals(name))
                .map(ReactorModule::mayUse)
                .findFirst()
                .orElseThrow(() -> new AssertionError(name + " is no module of the root pom"));
    }

    private static Set<String> modulesWithClasses() {
        Set<String> modules = new TreeSet<>();
        CLASSES.forEach(type -> ProjectClasses.moduleOf(type).ifPresent(modules::add));
        return modules;
    }

    /** Those that have a package of that name: several where tests lie beside what they try. */
    private static Set<String> othersWith(String packageName, ReactorModule module) {
        Set<String> others = new TreeSet<>();
        MODULES.stream().filter(each -> each.packages().contains(packageName)).forEach(each -> others.add(each.name()));
        others.remove(module.name());
        return others;
    }
}
