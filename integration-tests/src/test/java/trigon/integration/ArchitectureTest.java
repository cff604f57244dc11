package trigon.integration;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The rules that keep the structure: who may depend on whom, and who may touch what. */
class ArchitectureTest {

    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .withImportOption(location -> !location.contains("/test-classes/") && !location.contains("-tests.jar"))
            .importPackages("trigon");

    @Test
    void dependenciesPointOneWay() {
        layeredArchitecture()
                .consideringOnlyDependenciesInLayers()
                .layer("config")
                .definedBy("trigon.config..")
                .layer("verbs")
                .definedBy("trigon.verbs..")
                .layer("circuit")
                .definedBy("trigon.circuit..")
                .layer("topology")
                .definedBy("trigon.topology..")
                .layer("relay")
                .definedBy("trigon.relay..")
                .layer("software-verbs")
                .definedBy("trigon.software..")
                .layer("routing")
                .definedBy("trigon.routing..")
                .layer("handshake")
                .definedBy("trigon.handshake..")
                .layer("qp-state")
                .definedBy("trigon.qpstate..")
                .layer("transport")
                .definedBy("trigon.transport..", "trigon.net..")
                .layer("one-sided")
                .definedBy("trigon.onesided..")
                .layer("native-entry")
                .definedBy("trigon.entry..")
                .layer("tools")
                .definedBy("trigon.tools..")
                .whereLayer("tools")
                .mayNotBeAccessedByAnyLayer()
                .whereLayer("native-entry")
                .mayNotBeAccessedByAnyLayer()
                .whereLayer("transport")
                .mayOnlyBeAccessedByLayers("one-sided", "native-entry", "tools")
                .whereLayer("one-sided")
                .mayOnlyBeAccessedByLayers("native-entry")
                .whereLayer("software-verbs")
                .mayOnlyBeAccessedByLayers("native-entry", "tools")
                .whereLayer("relay")
                .mayOnlyBeAccessedByLayers("native-entry", "tools")
                .whereLayer("topology")
                .mayOnlyBeAccessedByLayers("relay", "tools")
                .whereLayer("qp-state")
                .mayOnlyBeAccessedByLayers("transport", "tools")
                .whereLayer("handshake")
                .mayOnlyBeAccessedByLayers("transport", "native-entry")
                .whereLayer("routing")
                .mayOnlyBeAccessedByLayers("transport", "relay", "native-entry", "tools")
                .whereLayer("config")
                .mayOnlyBeAccessedByLayers(
                        "topology", "relay", "routing", "handshake", "transport", "native-entry", "tools")
                .check(CLASSES);
    }

    @Test
    void packagesHaveNoCycles() {
        slices().matching("trigon.(**)").should().beFreeOfCycles().check(CLASSES);
    }

    /**
     * The root of a module's packages, and how many of its classes may know each other in circles. Add a module here
     * once its packages are in order.
     */
    static List<Arguments> roots() {
        return List.of(
                Arguments.of("trigon.software", 8),
                Arguments.of("trigon.transport", 4),
                Arguments.of("trigon.onesided", 4),
                Arguments.of("trigon.relay", 4),
                Arguments.of("trigon.tools", 4),
                Arguments.of("trigon.topology", 4));
    }

    @ParameterizedTest
    @MethodSource("roots")
    void subPackagesHaveNoCycles(String root) {
        slices().matching(root + ".(*)..").should().beFreeOfCycles().check(CLASSES);
    }

    /** What cannot be understood, or tested, one by one stays small. */
    @ParameterizedTest
    @MethodSource("roots")
    void classesKnowFewOthersInCircles(String root, int most) {
        assertThat(Knots.among(CLASSES, root))
                .isNotEmpty()
                .allSatisfy(knot -> assertThat(knot).hasSizeLessThanOrEqualTo(most));
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
                .layer("lanes")
                .definedBy(root + "lanes")
                .layer("connection")
                .definedBy(root + "connection")
                .layer("data")
                .definedBy(root + "queue", root + "memory", root + "wire")
                .whereLayer("device")
                .mayNotBeAccessedByAnyLayer()
                .whereLayer("requester")
                .mayOnlyBeAccessedByLayers("device")
                .whereLayer("responder")
                .mayOnlyBeAccessedByLayers("device")
                .whereLayer("lanes")
                .mayOnlyBeAccessedByLayers("device", "requester", "responder")
                .whereLayer("connection")
                .mayOnlyBeAccessedByLayers("device", "requester", "responder", "lanes")
                .check(CLASSES);
    }

    /** What tests share may, too: it ends sockets behind their owners' backs, and is no part of the distribution. */
    @Test
    void onlyTheBordersToCLinkForeignFunctions() {
        noClasses()
                .that()
                .resideOutsideOfPackages(
                        "trigon.verbs.ffm..", "trigon.routing.kernel..", "trigon.entry..", "trigon.testsupport..")
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
                .resideOutsideOfPackage("trigon.config..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("com.fasterxml..", "org.yaml..")
                .because("only the settings are YAML")
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
                .resideOutsideOfPackage("trigon.tools..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("picocli..")
                .because("the plugin has no command line")
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
}
