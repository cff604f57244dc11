package trigon.tools.probe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import trigon.tools.console.Json;
import trigon.tools.doctor.Diagnosis;
import trigon.tools.doctor.Finding;

/**
 * Faults planted into a triangle of namespaces, whose agents are processes as on nodes: one at a time, and two. More
 * pairs by {@code -Dtrigon.faults.pairs=100 -Dtrigon.faults.seed=N}; slow ones by {@code -Dtrigon.faults.all=true}, and
 * by {@code -Dtrigon.faults.only=WORDS} those alone whose description has the words.
 */
@Timeout(240)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class PlantedFaultsTest {

    private static final List<PlantedFault> FAULTS = PlantedFaults.all().stream()
            .filter(fault -> !fault.isSlow() || Boolean.getBoolean("trigon.faults.all"))
            .toList();
    private static final int PAIRS = Integer.getInteger("trigon.faults.pairs", 2);
    private static final long SEED = Long.getLong("trigon.faults.seed", 25);

    private static LinkNamespaces lab;
    private static boolean firewalls;

    /** What this machine has itself, whatever the links are, such as a low limit. */
    private static Set<String> usual = Set.of();

    @BeforeAll
    static void build() throws IOException {
        assumeTrue(LinkNamespaces.areThere(), "network namespaces need root");
        lab = new LinkNamespaces("a", "b", "c", "d");
        triangle();
        try {
            lab.in("a", "iptables -A INPUT -p tcp -m length --length 1 -j DROP");
            lab.in("a", "iptables -F");
            firewalls = true;
        } catch (IOException e) {
            System.err.println("no firewalls are planted: " + e.getMessage());
        }
    }

    @AfterAll
    static void tearDown() throws IOException {
        if (lab != null) {
            lab.close();
        }
    }

    private static void triangle() throws IOException {
        if (!lab.isCabled()) {
            lab.cable("a", "b", 1);
            lab.cable("a", "c", 2);
            lab.cable("b", "c", 3);
            usual = Set.of();
            Set<String> healthy = codes(examine(3, false));
            assertThat(healthy).isSubsetOf("open-files-low", "shared-memory-small", "tasks-few", "memlock-low");
            usual = healthy;
        }
    }

    private static List<Finding> examine(int nodes, boolean rate) {
        return Diagnosis.of(PlantedFault.examined(lab, nodes, rate));
    }

    private static Set<String> codes(List<Finding> findings) {
        return PlantedFault.codes(findings, usual);
    }

    static List<PlantedFault> faults() {
        String only = System.getProperty("trigon.faults.only", "");
        return FAULTS.stream().filter(fault -> fault.toString().contains(only)).toList();
    }

    @ParameterizedTest
    @MethodSource("faults")
    @Order(1)
    void aFaultIsFoundAndNothingElse(PlantedFault fault) throws IOException {
        assumeTrue(firewalls || !fault.isOfFirewall(), "no firewall here");
        triangle();
        try {
            fault.plant(lab);
            List<Finding> findings = examine(fault.nodes(), fault.isMeasured());
            fault.mend(lab);

            assertThat(codes(findings)).as(() -> findings.toString()).isEqualTo(unusual(fault.codes()));
        } catch (IOException e) {
            lab.renew(); // what is left of it would be in the way of others
            throw e;
        }
    }

    private static Set<String> unusual(Set<String> codes) {
        return codes.stream().filter(code -> !usual.contains(code)).collect(Collectors.toCollection(TreeSet::new));
    }

    @Test
    @Order(2)
    void twoAtATimeAreBothFound() throws IOException {
        triangle();
        System.err.println("pairs of faults: seed " + SEED);
        Random random = new Random(SEED);
        for (int i = 0; i < PAIRS; i++) {
            PlantedFault one = any(random);
            PlantedFault other = any(random);
            if (!one.isApartFrom(other)) {
                i--;
                continue;
            }
            Set<String> both = new TreeSet<>(unusual(one.codes()));
            both.addAll(unusual(other.codes()));
            try {
                one.plant(lab);
                other.plant(lab);
                List<Finding> findings = examine(3, false);
                other.mend(lab);
                one.mend(lab);

                assertThat(codes(findings))
                        .as(() -> one + ", and " + other + ": " + findings)
                        .isEqualTo(both);
            } catch (IOException e) {
                lab.renew();
                throw e;
            }
        }
    }

    private static PlantedFault any(Random random) {
        List<PlantedFault> quick = FAULTS.stream()
                .filter(fault -> !fault.isMeasured() && (firewalls || !fault.isOfFirewall()))
                .toList();
        return quick.get(random.nextInt(quick.size()));
    }

    @Test
    @Order(3)
    void aNodeWhoseAgentHasEndedIsSilent() throws IOException {
        triangle();
        long pid = lab.node("c").ask(Json.object("do", "pretend")).whole("pid");
        assertThat(ProcessHandle.of(pid).orElseThrow().destroyForcibly()).isTrue();
        try {
            assertThat(codes(examine(3, false))).containsExactly("node-silent");
        } finally {
            lab.restart("c");
        }
    }

    @Test
    @Order(3)
    void healthyRdmaIsUsedAndHasNoFindings() throws IOException {
        triangle();
        PlantedFault none = PlantedFault.ofTwo("RDMA at both ends")
                .told("a", "rdma", "right")
                .told("b", "rdma", "right");
        try {
            none.plant(lab);
            Observations seen = PlantedFault.examined(lab, 2, false);

            assertThat(codes(Diagnosis.of(seen))).isEmpty();
            assertThat(seen.probes())
                    .hasSize(2)
                    .allSatisfy(
                            probe -> assertThat(probe.result().object("rdma").text("outcome"))
                                    .as(probe.toString())
                                    .isEqualTo("right"));
        } finally {
            none.mend(lab);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"ab bc cd ad", "ab bc cd", "ab ac ad", "ab ac ad bc bd cd", "ab ab ac ac bc bc"})
    @Order(4)
    void healthyShapesHaveNoFindings(String cables) throws IOException {
        lab.unplug();
        int subnet = 1;
        try {
            for (String cable : cables.split(" ", -1)) {
                lab.cable(cable.substring(0, 1), cable.substring(1), subnet++);
            }
            assertThat(codes(examine(cables.contains("d") ? 4 : 3, false))).isEmpty();
        } finally {
            lab.unplug();
        }
    }
}
