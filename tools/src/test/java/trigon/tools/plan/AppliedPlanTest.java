package trigon.tools.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import trigon.cluster.diagnosis.Diagnosis;
import trigon.cluster.json.Json;
import trigon.cluster.probe.LinkNamespaces;
import trigon.cluster.probe.Observations;
import trigon.cluster.probe.PlantedFault;
import trigon.testsupport.Samples;
import trigon.tools.Run;

/** Plans, applied by their own scripts to nodes that are namespaces: the doctor finds nothing. */
@Timeout(240)
class AppliedPlanTest {

    /** What the machine of the test may have itself. */
    private static final Set<String> OF_THE_MACHINE =
            Set.of("open-files-low", "shared-memory-small", "tasks-few", "memlock-low");

    /** An end with an address that it has before. */
    private static final Pattern ADDRESS = Pattern.compile("(\\w+):(\\w+)=(\\S+)");

    private static final String[] SPARK_PORTS = {"a enp1s0f0np0", "a enP2p1s0f0np0", "b enp1s0f0np0", "b enP2p1s0f0np0"
    };

    @TempDir
    private Path folder = Path.of("/nonexistent"); // until JUnit has set it

    @BeforeEach
    void needsRoot() {
        assumeTrue(LinkNamespaces.areThere(), "network namespaces need root");
    }

    static List<Arguments> clusters() {
        return Samples.of(List.of(
                Arguments.of(
                        "triangle",
                        "cables:\n- a:e1 b:e1\n- a:e2 c:e1\n- b:e2 c:e2\n",
                        List.of("a", "b", "c"),
                        ends("a e1,b e1", "a e2,c e1", "b e2,c e2")),
                Arguments.of(
                        "ring of four",
                        "cables:\n- a:e1 b:e1\n- b:e2 c:e1\n- c:e2 d:e1\n- d:e2 a:e2\n",
                        List.of("a", "b", "c", "d"),
                        ends("a e1,b e1", "b e2,c e1", "c e2,d e1", "d e2,a e2")),
                Arguments.of(
                        "two DGX Sparks",
                        "machines: dgx-spark\ncables:\n- a:enp1s0f0np0 b:enp1s0f0np0\n",
                        List.of("a", "b"),
                        ends(String.join(",", SPARK_PORTS))),
                Arguments.of(
                        "two cables that share a subnet, and one with its own",
                        """
                        cables:
                        - a:e1=10.1.0.1/24 b:e1=10.1.0.2/24
                        - a:e2=10.1.0.3/24 c:e1=10.1.0.4/24
                        - b:e2=10.2.0.1/24 c:e2=10.2.0.2/24
                        """,
                        List.of("a", "b", "c"),
                        ends("a e1,b e1", "a e2,c e1", "b e2,c e2"))));
    }

    private static List<String[]> ends(String... wires) {
        return Stream.of(wires).map(wire -> wire.split(",", -1)).toList();
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("clusters")
    void anAppliedPlanHasNoFindings(String name, String cables, List<String> nodes, List<String[]> wires)
            throws IOException {
        Path file = Files.writeString(folder.resolve("cables.yaml"), cables);
        Run plan = Run.of(
                "plan", file.toString(), "--write", folder.resolve("plan").toString());
        assertThat(plan.status()).as(name + plan.err()).isZero();
        try (LinkNamespaces lab = new LinkNamespaces(nodes.toArray(String[]::new))) {
            for (String[] wire : wires) {
                lab.wire(wire);
            }
            Matcher old = ADDRESS.matcher(cables);
            while (old.find()) {
                lab.in(old.group(1), "ip addr add %s dev %s".formatted(old.group(3), old.group(2)));
            }
            assertThatThrownBy(() -> apply(lab, "a", "b"))
                    .hasMessageContaining("this is for the node b, and this machine is called a; nothing was done");

            for (String node : nodes) {
                apply(lab, node, node);
                apply(lab, node, node); // again changes nothing
                var _ = lab.node(node)
                        .ask(Json.object(
                                "do",
                                "pretend",
                                "cluster",
                                folder.resolve("plan")
                                        .resolve(node)
                                        .resolve("cluster.yaml")
                                        .toString(),
                                "node",
                                node));
            }
            lab.awaitCables();

            Observations seen = PlantedFault.examined(lab, nodes.size(), false);
            assertThat(seen.probes())
                    .hasSize(
                            2 * wires.stream().mapToInt(wire -> wire.length / 2).sum());
            assertThat(seen.probes()).allMatch(Observations.Probe::works);
            assertThat(Diagnosis.of(seen))
                    .filteredOn(finding -> !OF_THE_MACHINE.contains(finding.code()))
                    .isEmpty();
        }
    }

    /** Runs the script of a node on one that is called {@code on}. */
    private void apply(LinkNamespaces lab, String on, String whose) throws IOException {
        Path called = folder.resolve("called");
        Files.writeString(called, "#!/bin/sh\nhostname \"$1\" && shift && exec \"$@\"\n");
        Files.setPosixFilePermissions(called, PosixFilePermissions.fromString("rwx------"));
        lab.in(on, "unshare --uts %s %s %s/plan/%s/apply.sh".formatted(called, on, folder, whose));
    }
}
