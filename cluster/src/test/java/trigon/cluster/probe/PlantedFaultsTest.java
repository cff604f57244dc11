package trigon.cluster.probe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import trigon.cluster.diagnosis.Diagnosis;
import trigon.cluster.diagnosis.Finding;
import trigon.cluster.json.Json;
import trigon.testsupport.Sampled;

/**
 * Faults planted into triangles of namespaces, whose agents are processes as on nodes: some of all, one at a time, and
 * two. More by {@code -Dtrigon.faults.singles=1000 -Dtrigon.faults.pairs=100 -Dtrigon.faults.seed=N}; slow ones by
 * {@code -Dtrigon.faults.all=true}, and by {@code -Dtrigon.faults.only=WORDS} those alone whose description has the
 * words. Tests mostly wait, and so run beside each other, each with a lab that no other one uses meanwhile.
 */
@Timeout(240)
@Execution(ExecutionMode.CONCURRENT)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class PlantedFaultsTest {

    private static final List<PlantedFault> FAULTS = PlantedFaults.all().stream()
            .filter(fault -> !fault.isSlow() || Boolean.getBoolean("trigon.faults.all"))
            .toList();
    private static final int SINGLES = Integer.getInteger("trigon.faults.singles", 10);
    private static final int PAIRS = Integer.getInteger("trigon.faults.pairs", 1);
    private static final long SEED = Long.getLong("trigon.faults.seed", System.nanoTime());
    private static final int LABS = 3;

    /** What is right of a triangle's addresses. */
    private static final Set<String> HEALTHY = Set.of(
            "ab1 10.77.1.1/24",
            "ba1 10.77.1.2/24",
            "ac2 10.77.2.1/24",
            "ca2 10.77.2.2/24",
            "bc3 10.77.3.1/24",
            "cb3 10.77.3.2/24");

    private static final BlockingQueue<LinkNamespaces> LABS_TO_USE = new ArrayBlockingQueue<>(LABS);
    private static boolean firewalls;

    /** What this machine has itself, whatever the links are, such as a low limit. */
    private static Set<String> usual = Set.of();

    /** A lab is an argument, so that none is used by two tests. */
    private interface Use {
        void in(LinkNamespaces lab) throws IOException;
    }

    @BeforeAll
    static void build() throws IOException {
        assumeTrue(LinkNamespaces.areThere(), "network namespaces need root");
        for (int i = 0; i < LABS; i++) {
            LABS_TO_USE.add(new LinkNamespaces("a", "b", "c", "d"));
        }
        LinkNamespaces lab = LABS_TO_USE.element();
        usual = healthy(lab);
        try {
            lab.in("a", "iptables -w -A INPUT -p tcp -m length --length 1 -j DROP");
            lab.in("a", "iptables -w -F");
            firewalls = true;
        } catch (IOException e) {
            System.err.println("no firewalls are planted: " + e.getMessage());
        }
    }

    @AfterAll
    static void tearDown() throws IOException {
        // and so is empty where this process runs the class again
        for (LinkNamespaces lab = LABS_TO_USE.poll(); lab != null; lab = LABS_TO_USE.poll()) {
            lab.close();
        }
    }

    private static void withLab(Use use) throws IOException {
        LinkNamespaces lab;
        try {
            lab = LABS_TO_USE.take();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
        try {
            use.in(lab);
        } finally {
            LABS_TO_USE.add(lab);
        }
    }

    /** Cabled as a triangle, without faults. */
    private static void withTriangle(Use use) throws IOException {
        withLab(lab -> {
            if (!lab.isCabled()) {
                cable(lab);
            }
            lab.awaitCables();
            try {
                use.in(lab);
            } catch (IOException e) {
                lab.renew(); // what is left of it would be in the way of others
                throw e;
            }
        });
    }

    private static void cable(LinkNamespaces lab) throws IOException {
        lab.cable("a", "b", 1);
        lab.cable("a", "c", 2);
        lab.cable("b", "c", 3);
        lab.awaitCables();
    }

    private static Set<String> healthy(LinkNamespaces lab) throws IOException {
        cable(lab);
        Set<String> healthy = PlantedFault.codes(examine(lab, 3, false), Set.of());
        assertThat(healthy).isSubsetOf("open-files-low", "shared-memory-small", "tasks-few", "memlock-low");
        return healthy;
    }

    private static List<Finding> examine(LinkNamespaces lab, int nodes, boolean rate) {
        return Diagnosis.of(PlantedFault.examined(lab, nodes, rate));
    }

    private static Set<String> codes(List<Finding> findings) {
        return PlantedFault.codes(findings, usual);
    }

    static List<PlantedFault> faults() {
        String only = System.getProperty("trigon.faults.only", "");
        List<PlantedFault> faults = new ArrayList<>(FAULTS);
        faults.removeIf(fault -> !fault.toString().contains(only));
        if (only.isEmpty()) {
            System.err.println("single faults: seed " + SEED);
            Collections.shuffle(faults, new Random(SEED));
        }
        return faults.stream().limit(SINGLES).toList();
    }

    @ParameterizedTest
    @MethodSource("faults")
    @Order(1)
    void aFaultIsFoundAndNothingElseAndItsCommandsMendIt(PlantedFault fault) throws IOException {
        assumeTrue(firewalls || !fault.isOfFirewall(), "no firewall here");
        withTriangle(lab -> {
            AppliedRemedies remedies = new AppliedRemedies(lab, fault.nodes(), fault.isMeasured(), usual);
            try {
                fault.plant(lab);
                List<Finding> findings = remedies.examine();
                assertThat(findings)
                        .extracting(Finding::code)
                        .as("one finding for each fault: %s", findings)
                        .containsExactlyInAnyOrderElementsOf(unusual(fault.codes()));
                remedies.apply();
                assertThat(remedies.lost()).allMatch(address -> !HEALTHY.contains(address));
            } finally {
                if (remedies.haveChangedSomething()) {
                    lab.renew();
                } else {
                    fault.mend(lab);
                }
            }
        });
    }

    private static List<String> unusual(List<String> codes) {
        return codes.stream().filter(code -> !usual.contains(code)).toList();
    }

    static List<Pair> pairs() {
        System.err.println("pairs of faults: seed " + SEED);
        Random random = new Random(SEED);
        return Stream.generate(() -> new Pair(any(random), any(random)))
                .filter(pair -> pair.one().isApartFrom(pair.other()))
                .limit(PAIRS)
                .toList();
    }

    record Pair(PlantedFault one, PlantedFault other) {}

    private static PlantedFault any(Random random) {
        List<PlantedFault> quick =
                FAULTS.stream().filter(fault -> !fault.isMeasured()).toList();
        return quick.get(random.nextInt(quick.size()));
    }

    @ParameterizedTest
    @MethodSource("pairs")
    @Order(2)
    void twoAtATimeAreBothFound(Pair pair) throws IOException {
        PlantedFault one = pair.one();
        PlantedFault other = pair.other();
        assumeTrue(firewalls || !(one.isOfFirewall() || other.isOfFirewall()), "no firewall here");
        Set<String> both = new TreeSet<>(unusual(one.codes()));
        both.addAll(unusual(other.codes()));
        withTriangle(lab -> {
            one.plant(lab);
            other.plant(lab);
            List<Finding> findings = examine(lab, Math.max(one.nodes(), other.nodes()), false);
            other.mend(lab);
            one.mend(lab);

            assertThat(codes(findings)).as(() -> findings.toString()).isEqualTo(both);
        });
    }

    @Test
    @Order(3)
    void aNodeWhoseAgentHasEndedIsSilent() throws IOException {
        withTriangle(lab -> {
            long pid = lab.node("c").ask(Json.object("do", "pretend")).whole("pid");
            assertThat(ProcessHandle.of(pid).orElseThrow().destroyForcibly()).isTrue();
            try {
                assertThat(codes(examine(lab, 3, false))).containsExactly("node-silent");
            } finally {
                lab.restart("c");
            }
        });
    }

    @Test
    @Order(3)
    void healthyRdmaIsUsedAndHasNoFindings() throws IOException {
        PlantedFault none = PlantedFault.ofTwo("RDMA at both ends")
                .told("a", "rdma", "right")
                .told("b", "rdma", "right");
        withTriangle(lab -> {
            try {
                none.plant(lab);
                Observations seen = PlantedFault.examined(lab, 2, false);

                assertThat(codes(Diagnosis.of(seen))).isEmpty();
                assertThat(seen.probes())
                        .hasSize(2)
                        .allSatisfy(probe -> assertThat(probe.isRdmaRight())
                                .as(probe.toString())
                                .isTrue());
            } finally {
                none.mend(lab);
            }
        });
    }

    /** Without relays, and first without routes. */
    @Test
    @Order(4)
    void aPairWithoutALinkIsTriedAlongTheKernelsRoutes() throws IOException {
        withLab(lab -> {
            lab.unplug();
            try {
                lab.cable("a", "b", 1);
                lab.cable("b", "c", 2);
                lab.awaitCables();
                for (String node : List.of("a", "b", "c")) {
                    var _ = lab.node(node)
                            .ask(Json.object("do", "pretend", "environment", Json.object("TRIGON_RELAY", "off")));
                }
                assertThat(codes(examine(lab, 3, false))).containsExactly("no-path");

                lab.in("b", "sysctl -qw net.ipv4.ip_forward=1");
                lab.in("a", "ip route add 10.77.2.0/24 via 10.77.1.2");
                lab.in("c", "ip route add 10.77.1.0/24 via 10.77.2.1");
                Observations seen = PlantedFault.examined(lab, 3, false);

                assertThat(codes(Diagnosis.of(seen))).isEmpty();
                assertThat(seen.probes())
                        .filteredOn(probe -> probe.result().routed())
                        .map(probe -> probe.from() + " " + probe.to())
                        .as("routes to nodes behind another one, and to their farther ends")
                        .anySatisfy(pair -> assertThat(pair).matches(".*a .*c"))
                        .anySatisfy(pair -> assertThat(pair).matches(".*c .*a"));
            } finally {
                lab.in("b", "sysctl -qw net.ipv4.ip_forward=0");
                lab.renew();
            }
        });
    }

    /** As container and VM software makes them, the same on each node; the other end of each is up. */
    @Test
    @Order(4)
    void bridgesOfContainersAreNoLinks() throws IOException {
        withTriangle(lab -> {
            for (String node : List.of("a", "b", "c")) {
                lab.in(node, "ip link add incusbr0 type bridge");
                lab.in(node, "ip link add p0 type veth peer name q0");
                lab.in(node, "ip link set p0 master incusbr0");
                lab.in(node, "ip addr add 10.61.0.1/24 dev incusbr0");
                lab.in(node, "ip link add l4tbr0 type bridge");
                lab.in(node, "ip addr add 192.168.55.1/24 dev l4tbr0");
                for (String nic : List.of("p0", "q0", "incusbr0", "l4tbr0")) {
                    lab.in(node, "sysctl -qw net.ipv6.conf." + nic + ".disable_ipv6=1");
                    lab.in(node, "ip link set " + nic + " up");
                }
            }
            try {
                assertThat(codes(examine(lab, 3, false))).isEmpty();
            } finally {
                for (String node : List.of("a", "b", "c")) {
                    lab.in(node, "ip link del p0");
                    lab.in(node, "ip link del incusbr0");
                    lab.in(node, "ip link del l4tbr0");
                }
            }
        });
    }

    @ParameterizedTest
    @Sampled({"ab bc cd ad", "ab ac ad", "ab ac ad bc bd cd", "ab ab ac ac bc bc"})
    @Order(4)
    void healthyShapesHaveNoFindings(String cables) throws IOException {
        assertThat(findingsOf(cables)).isEmpty();
    }

    /** Its ends are joined by two relays. */
    @Test
    @Order(4)
    void aLineOfFourNeedsNoKey() throws IOException {
        assertThat(findingsOf("ab bc cd")).isEmpty();
    }

    private static Set<String> findingsOf(String cables) throws IOException {
        Set<String> found = new HashSet<>();
        withLab(lab -> {
            lab.unplug();
            int subnet = 1;
            try {
                for (String cable : cables.split(" ", -1)) {
                    lab.cable(cable.substring(0, 1), cable.substring(1), subnet++);
                }
                lab.awaitCables();
                found.addAll(codes(examine(lab, cables.contains("d") ? 4 : 3, false)));
            } finally {
                lab.unplug();
            }
        });
        return found;
    }
}
