package trigon.cluster.probe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import trigon.cluster.diagnosis.Diagnosis;
import trigon.cluster.diagnosis.Finding;

/**
 * Networks that people have posted, and what is right in them, as network namespaces: what the doctor finds, and that
 * its commands leave nothing that has some. {@code -Dtrigon.faults.only=WORDS} runs those whose name has the words.
 */
@Timeout(240)
class FieldCasesTest {

    /** Findings about the machines of the test themselves, whatever their links are. */
    private static final Set<String> USUAL =
            Set.of("open-files-low", "shared-memory-small", "tasks-few", "memlock-low", "host-name-loopback");

    /** Cases that a run takes of all; which, its seed says. */
    private static final int CASES = Integer.getInteger("trigon.faults.cases", 6);

    private static final long SEED = Long.getLong("trigon.faults.seed", System.nanoTime());

    private static LinkNamespaces lab;

    @TempDir
    private Path directory;

    @BeforeAll
    static void build() throws IOException {
        assumeTrue(LinkNamespaces.areThere(), "network namespaces need root");
        lab = new LinkNamespaces("a", "b", "c", "d");
    }

    @AfterAll
    static void tearDown() throws IOException {
        if (lab != null) {
            lab.close();
        }
    }

    static List<FieldCase> cases() {
        String only = System.getProperty("trigon.faults.only", "");
        List<FieldCase> cases = new ArrayList<>(FieldCases.all());
        cases.removeIf(each -> !each.toString().contains(only));
        if (only.isEmpty()) {
            System.err.println("field cases: seed " + SEED);
            Collections.shuffle(cases, new Random(SEED));
        }
        return cases.stream().limit(CASES).toList();
    }

    @ParameterizedTest
    @MethodSource("cases")
    void whatIsWrongIsFoundAndItsCommandsMendIt(FieldCase of) throws IOException {
        assumeTrue(!of.needsFirewall() || lab.hasFirewall(), "no firewall here");
        try {
            of.build(lab);
            AppliedRemedies remedies = new AppliedRemedies(lab, of.nodes(), false, USUAL);
            List<Finding> findings = remedies.examine();

            assertThat(findings)
                    .as(findings::toString)
                    .extracting(Finding::code)
                    .containsExactlyInAnyOrderElementsOf(of.codes());
            of.isHealthy()
                    .ifPresent(healthy -> assertThat(Diagnosis.isHealthy(findings))
                            .as(findings::toString)
                            .isEqualTo(healthy));
            if (!of.texts().isEmpty()) {
                assertThat(findings.toString()).contains(of.texts());
            }
            assertThat(remedies.apply())
                    .as("those without commands")
                    .allMatch(
                            each -> each.remedies().stream().noneMatch(remedy -> remedy.kind() == Finding.Kind.CHANGE));
        } finally {
            lab.renew();
        }
    }

    /** Case 28: once each cable has a subnet, the ends still need relays. */
    @Test
    void pairsWithoutACableAreNamedBesideTheSharedSubnet() throws IOException {
        FieldCase of = FieldCases.lineOfFour();
        try {
            of.build(lab);
            List<Finding> findings = new AppliedRemedies(lab, of.nodes(), false, USUAL).examine();

            assertThat(findings).extracting(Finding::code).containsExactlyInAnyOrderElementsOf(of.codes());
            assertThat(findings.toString()).contains(of.texts());
        } finally {
            lab.renew();
        }
    }

    /** Case 23: of several other networks, in the file that the launcher names. */
    @Test
    void whatImagesHaveLeftForNcclIsNamed() throws IOException {
        Path file = Files.writeString(directory.resolve("left over's.conf"), """
            # left by an image
            NCCL_GRAPH_FILE=/opt/other/graph.xml
            NCCL_TOPO_FILE=/opt/other/topo.xml
            NCCL_TUNER_PLUGIN=/opt/other/lib/libnccl-other-tuner.so
            NCCL_PROFILER_PLUGIN=/opt/x/libnccl-profiler-inspector.so
            NCCL_ALGO=Ring
            NCCL_IB_GID_INDEX=
            NCCL_SOCKET_IFNAME=eth9
            NCCL_HOSTID=abc
            """);
        FieldCase of = FieldCase.of("23 leftovers in NCCL's file", 1)
                .wire("a eth0", "b x0")
                .addresses("a eth0 10.244.1.7/24")
                .variable("a", "NCCL_CONF_FILE", file.toString())
                .variable("a", "GLOO_SOCKET_IFNAME", "eth7");
        try {
            of.build(lab);
            AppliedRemedies remedies = new AppliedRemedies(lab, 1, false, USUAL);
            List<Finding> findings = remedies.examine();

            assertThat(findings.stream().map(Finding::evidence).collect(Collectors.joining("; ")))
                    .contains("NCCL_GRAPH_FILE", "NCCL_TOPO_FILE", "NCCL_TUNER_PLUGIN", "NCCL_PROFILER_PLUGIN")
                    .contains(
                            "NCCL_ALGO",
                            "NCCL_IB_GID_INDEX",
                            "NCCL_SOCKET_IFNAME",
                            "NCCL_HOSTID",
                            "GLOO_SOCKET_IFNAME");
            assertThat(findings).hasSize(9);
            assertThat(remedies.apply()).isEmpty();
            assertThat(file).hasContent("# left by an image\n");
        } finally {
            lab.renew();
        }
    }
}
