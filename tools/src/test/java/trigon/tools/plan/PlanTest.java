package trigon.tools.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import trigon.cluster.machine.Machine;
import trigon.tools.Run;
import trigon.tools.console.CommandFailure;

class PlanTest {

    private static Plan plan(Cabling cabling) {
        return Plan.of(cabling, Subnets.of(cabling, 77, 0), Optional.of(80.0), Integer.MAX_VALUE);
    }

    @Test
    void aTriangleNeedsNoRelayAndEachCableHasASubnet() {
        Plan plan =
                plan(Cabling.read("f", "cables:\n  - a:e1 b:e1 # short\n  - \"a:e2 - c:e1\"\n  - b:e2 c:e2\n", false));

        assertThat(plan.order()).containsExactly("a", "b", "c");
        assertThat(plan.withoutRelay()).isTrue();
        assertThat(plan.relayedPairs()).isZero();
        assertThat(plan.allReduce()).isEqualTo(10, within(0.01));
        assertThat(plan.allToAll()).isEqualTo(20, within(0.01));
        assertThat(plan.clusterFile()).isEqualTo("""
            version: 1
            nodes:
              a:
                nics:
                - {device: e1, address: 10.77.0.1/24}
                - {device: e2, address: 10.77.1.1/24}
              b:
                nics:
                - {device: e1, address: 10.77.0.2/24}
                - {device: e2, address: 10.77.2.1/24}
              c:
                nics:
                - {device: e1, address: 10.77.1.2/24}
                - {device: e2, address: 10.77.2.2/24}
            """);
        PlanFiles files = new PlanFiles(plan, 9000);
        assertThat(files.commands("c")).contains("ip addr replace 10.77.2.2/24 dev e2 && ip link set e2 mtu 9000 up");
        assertThat(files.all().get("a/netplan/60-trigon-e1.yaml"))
                .contains("e1: {addresses: [10.77.0.1/24], mtu: 9000")
                .doesNotContain("10.77.0.2", "10.77.2.");
    }

    @Test
    void aRingOfScrambledNamesIsPutInOrder() {
        Plan plan = plan(Cabling.read("f", "cables:\n- a c\n- c b\n- b d\n- d a\n", false));

        assertThat(plan.withoutRelay()).isTrue();
        assertThat(String.join("", plan.order())).isIn("acbd", "adbc");
        assertThat(plan.relayedPairs()).isEqualTo(2);
    }

    @Test
    void aLineIsHalfOfARingAndOneMoreCableClosesIt() {
        Plan plan = plan(Cabling.shape("line:4", List.of(), false));

        assertThat(plan.withoutRelay()).isFalse();
        assertThat(plan.relayedPairs()).isEqualTo(3);
        assertThat(plan.oneMore()).hasValueSatisfying(more -> {
            assertThat(more.from() + more.to()).isEqualTo("n1n4");
            assertThat(more.allToAll()).isEqualTo(15, within(0.01));
            assertThat(more.allToAll()).isGreaterThan(plan.allToAll());
        });
    }

    @ParameterizedTest
    @CsvSource({
        "ring8, 8, 8, 4",
        "torus4x4, 16, 32, 4",
        "torus2x3, 6, 9, 2",
        "hypercube3, 8, 12, 3",
        "dragonfly9x4, 36, 90, 3",
        "stars2x3, 9, 8, 4",
        "line7, 7, 6, 6"
    })
    void shapesAreCabled(String shape, int nodes, int cables, int hops) {
        Plan plan = plan(Cabling.shape(shape, List.of(), false));

        assertThat(plan.cabling().nodes()).hasSize(nodes);
        assertThat(plan.cabling().cables()).hasSize(cables);
        assertThat(plan.expected().orElseThrow().traffic().hops()).isEqualTo(hops);
        assertThat(plan.expected().orElseThrow().removals()).hasSize(cables + nodes);
    }

    /** 80 Gbit/s; the busiest cable of a ring of 8 carries 8 pairs, and of a line 16. */
    @Test
    void eachCableAndEachNodeIsRemovedInTurn() {
        Plan.Expected ring =
                plan(Cabling.shape("ring8", List.of(), false)).expected().orElseThrow();

        assertThat(ring.traffic().allToAll()).isEqualTo(7 * 10 / 8.0, within(0.01));
        assertThat(ring.parting()).isZero();
        assertThat(ring.removals()).filteredOn(each -> !each.cable().isEmpty()).allSatisfy(each -> {
            assertThat(each.traffic().allToAll()).isEqualTo(7 * 10 / 16.0, within(0.01));
            assertThat(each.traffic().hops()).isEqualTo(7);
        });
        assertThat(ring.removals())
                .filteredOn(each -> each.cable().isEmpty())
                .allSatisfy(each -> assertThat(each.traffic().allToAll()).isEqualTo(6 * 10 / 12.0, within(0.01)));

        Plan.Expected star =
                plan(Cabling.shape("star4", List.of(), false)).expected().orElseThrow();
        assertThat(star.removals())
                .filteredOn(each -> !each.traffic().connected())
                .extracting(Removal::name)
                .containsExactly("n1-n2", "n1-n3", "n1-n4", "n1");
    }

    @Test
    void aCableOfTwoIsMissedLess() {
        Plan.Expected two = plan(Cabling.read("f", "cables:\n- a b\n- a b\n", false))
                .expected()
                .orElseThrow();

        assertThat(two.traffic().allToAll()).isEqualTo(20, within(0.01));
        assertThat(two.removals())
                .hasSize(2)
                .allSatisfy(each -> assertThat(each.traffic().allToAll()).isEqualTo(10, within(0.01)));
    }

    @Test
    void aCableIsBoughtOnlyForFreePorts() {
        Cabling line = Cabling.shape("line4", List.of(), false);
        Subnets subnets = Subnets.of(line, 77, 0);

        assertThat(Plan.of(line, subnets, Optional.of(80.0), 2).oneMore())
                .hasValueSatisfying(more -> assertThat(more.from() + more.to()).isEqualTo("n1n4"));
        Cabling ring = Cabling.shape("ring4", List.of(), false);
        assertThat(Plan.of(ring, Subnets.of(ring, 77, 0), Optional.of(80.0), 2).oneMore())
                .isEmpty();
        assertThat(Run.of("plan", "--shape", "ring4", "--ports", "1").err()).contains("--ports is 1: n1 has 2 cables");
    }

    @Test
    void ofMoreNodesThanRelaysServeNothingIsPredicted() {
        assertThat(plan(Cabling.shape("ring65", List.of(), false)).expected()).isEmpty();
        assertThat(Run.of("plan", "--shape", "ring65").out()).contains("relays serve 64 nodes at most");
    }

    @Test
    void nodesThatNothingJoinsAreSaid() {
        Plan plan = plan(Cabling.read("f", "cables:\n- a b\n- c d\n", false));

        assertThat(plan.connected()).isFalse();
        assertThat(plan.allReduce()).isZero();
    }

    @ParameterizedTest
    @CsvSource({"ring:2,1", "ring:1024,1024", "star:1024,1023", "line:300,299", "mesh:64,2016"})
    @Timeout(300)
    void largeShapesArePlanned(String shape, int cables) {
        Plan plan = plan(Cabling.shape(shape, List.of(), false));

        assertThat(plan.cabling().cables()).hasSize(cables);
        assertThat(plan.connected()).isTrue();
        assertThat(plan.subnets().names()).doesNotHaveDuplicates();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "a b",
                "cables:\n- a\n",
                "cables:\n- a a\n",
                "cables:\n- a:x b\n- a:x c\n",
                "cables:\n- a b c\n"
            })
    void wrongFilesAreErrorsThatNameThePlace(String text) {
        assertThatThrownBy(() -> Cabling.read("cables.yaml", text, false))
                .isInstanceOf(CommandFailure.class)
                .hasMessageMatching("(?s)cables.yaml:\\d+: .*|there are no cables.*");
    }

    @Test
    void writesWhatNodesNeed(@TempDir Path folder) throws Exception {
        Run run = Run.of("plan", "--shape", "ring:4", "--write", folder.toString(), "--prefix", "31");

        assertThat(run.status()).as(run.err()).isZero();
        assertThat(run.out()).contains("ring order without relays: n1,n2,n3,n4");
        assertThat(folder.resolve("cluster.yaml"))
                .content()
                .containsSubsequence("n1:", "- {device: link1, address: 10.77.0.0/31}", "n2:");
        assertThat(Files.readString(folder.resolve("cables.svg")))
                .startsWith("<svg")
                .contains("10.77.0.0/31")
                .endsWith("</svg>\n");
        assertThat(folder.resolve("hosts")).hasContent("n1\nn2\nn3\nn4\n");
        assertThat(folder.resolve("launchers.txt"))
                .content()
                .contains("sudo trigon enable", "mpirun --hostfile hosts -np 4", "srun");
        for (String node : List.of("n1", "n2", "n3", "n4")) {
            assertThat(folder.resolve(node).resolve("apply.sh")).isExecutable();
            assertThat(folder.resolve(node).resolve("cluster.yaml"))
                    .hasSameTextualContentAs(folder.resolve("cluster.yaml"));
        }
        assertThat(folder.resolve("n1/netplan/60-trigon-link1.yaml"))
                .content()
                .contains("link1: {addresses: [10.77.0.0/31], mtu: 9000")
                .doesNotContain("10.77.0.1/31");
        assertThat(folder.resolve("n1/networkmanager/trigon-link1.nmconnection"))
                .content()
                .contains("address1=10.77.0.0/31", "mtu=9000");
        assertThat(folder.resolve("n4/launch.sh")).content().contains("--nnodes 4 --node-rank 3");
    }

    @Test
    void nodesOfAShapeHaveTheNamesOfTheirHosts() {
        assertThat(Run.of("plan", "--shape", "ring:3", "--nodes", "spark-1,spark-2,spark-3")
                        .out())
                .contains("  spark-3:\n    nics:\n    - {device: link1");
        assertThat(Run.of("plan", "--shape", "ring:3", "--nodes", "a,b,a").err())
                .contains("--nodes is a,b,a: must be 3 different names, for --shape ring:3");
    }

    /** The subnets of twins, and of cables that cross, have places of their own. */
    @Test
    void labelsOfThePictureDoNotOverlap() {
        Pattern label =
                Pattern.compile("<rect +x=\"([\\d.]+)\" y=\"([\\d.]+)\" width=\"([\\d.]+)\" height=\"([\\d.]+)\"");
        for (Cabling cabling : List.of(
                Cabling.shape("ring:3", List.of(), true),
                Cabling.shape("mesh:6", List.of(), false),
                Cabling.read("f", "cables:\n- a b\n- a b\n- a b\n- b a-long-name\n", false))) {
            List<List<Double>> boxes = label.matcher(Picture.of(cabling, Subnets.of(cabling, 77, 0)))
                    .results()
                    .map(found -> IntStream.rangeClosed(1, 4)
                            .mapToObj(i -> Double.valueOf(found.group(i)))
                            .toList())
                    .toList();
            assertThat(boxes).hasSizeGreaterThan(1).doesNotHaveDuplicates();
            for (List<Double> one : boxes) {
                assertThat(boxes)
                        .filteredOn(other -> !other.equals(one))
                        .noneMatch(other -> one.get(0) < other.get(0) + other.get(2)
                                && other.get(0) < one.get(0) + one.get(2)
                                && one.get(1) < other.get(1) + other.get(3)
                                && other.get(1) < one.get(1) + one.get(3));
            }
        }
    }

    /** A script that is on the wrong machine, or on one that has other interfaces, changes nothing. */
    @Test
    void anotherNodesScriptsAreRefused(@TempDir Path folder) throws Exception {
        Run run = Run.of("plan", "--shape", "ring:3", "--nodes", "no-such-host,b,c", "--write", folder.toString());
        assertThat(run.status()).as(run.err()).isZero();

        for (String script : List.of("apply.sh", "launch.sh")) {
            Process process = new ProcessBuilder(
                            folder.resolve("no-such-host").resolve(script).toString())
                    .redirectErrorStream(true)
                    .start();
            assertThat(new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                    .startsWith(script + ": this is for the node no-such-host, and this machine is called ");
            assertThat(process.waitFor()).isEqualTo(1);
        }
    }

    /** As NVIDIA's playbook for three of them has it: a cable for each pair, and six subnets. */
    private static final String THREE_SPARKS = """
        cables:
          - n1:enp1s0f0np0 n2:enp1s0f1np1
          - n2:enp1s0f0np0 n3:enp1s0f1np1
          - n3:enp1s0f0np0 n1:enp1s0f1np1
        """;

    private static Plan sparks(Cabling cabling) {
        return Plan.of(cabling, Subnets.of(cabling, 77, 0), Optional.empty(), Integer.MAX_VALUE);
    }

    @Test
    void bothFunctionsOfASparksPortHaveASubnetEach() {
        Plan plan = sparks(Cabling.read("f", THREE_SPARKS, true));

        assertThat(plan.speeds().wires()).isEqualTo(3);
        assertThat(plan.subnets().names()).hasSize(6).doesNotHaveDuplicates();
        assertThat(plan.subnets().byNode())
                .allSatisfy((_, nics) -> assertThat(nics)
                        .extracting(Subnets.NicAddress::nic)
                        .containsExactlyInAnyOrder("enp1s0f0np0", "enP2p1s0f0np0", "enp1s0f1np1", "enP2p1s0f1np1"));
        assertThat(new PlanFiles(plan, 9000).all())
                .extractingByKey("n1/netplan/60-trigon-enP2p1s0f0np0.yaml")
                .asString()
                .contains("enP2p1s0f0np0: {addresses: [10.77.1.1/24], mtu: 9000");
    }

    /** In public, such a ring has reached a bus bandwidth of 13.86 GB/s, and a pair with one cable 23.74 GB/s. */
    @Test
    void whatSparksPromiseIsWhatTheirPcieLinksCarry() {
        Plan ring = sparks(Cabling.read("f", THREE_SPARKS, true));
        assertThat(ring.speeds().leastOfWire() / 8).isBetween(13.86, 14.5);
        assertThat(ring.allReduce()).isBetween(13.86, 14.5);

        Plan pair = sparks(Cabling.shape("ring:2", List.of(), true));
        assertThat(pair.allReduce()).isEqualTo(25, within(0.01));
        assertThat(pair.speeds().isLimited()).isFalse();

        Plan twoCables = sparks(Cabling.read("f", "cables:\n- a b\n- a b\n", true));
        assertThat(twoCables.allReduce()).as("little more than one").isBetween(25.0, 28.5);
    }

    @Test
    void aListOfFunctionsIsTheSamePlan() {
        Plan listed = sparks(Cabling.read(
                "f", THREE_SPARKS + THREE_SPARKS.replace("cables:\n", "").replace("enp1s0", "enP2p1s0"), true));
        Plan short3 = sparks(Cabling.shape("ring:3", List.of(), true));

        assertThat(listed.speeds())
                .isEqualTo(sparks(Cabling.read("f", THREE_SPARKS, true)).speeds());
        assertThat(listed.allReduce()).isEqualTo(short3.allReduce());
        assertThat(short3.subnets().byNode())
                .allSatisfy((_, nics) -> assertThat(nics).hasSize(4));
    }

    /** Many NICs with two ports have such names. */
    @Test
    void namesOfInterfacesDoNotMakeAMachineADgxSpark() {
        Plan plan = sparks(Cabling.read("f", THREE_SPARKS, false));

        assertThat(plan.subnets().names()).hasSize(3);
        assertThat(plan.subnets().byNode())
                .allSatisfy((_, nics) -> assertThat(nics)
                        .extracting(Subnets.NicAddress::nic)
                        .containsExactlyInAnyOrder("enp1s0f0np0", "enp1s0f1np1"));
        assertThat(plan.speeds().labels()).containsExactly(100.0);
    }

    @Test
    void aFileSaysWhichMachinesAreDgxSparks() {
        Plan all = sparks(Cabling.read("f", "machines: dgx-spark\n" + THREE_SPARKS, false));
        Plan two = sparks(
                Cabling.read("f", "machines: {n1: dgx-spark, n2: dgx-spark, n3: other}\n" + THREE_SPARKS, false));

        assertThat(all.subnets().names()).hasSize(6);
        assertThat(two.subnets().names())
                .as("a second function at both ends of one cable alone")
                .hasSize(4);
        assertThatThrownBy(() -> Cabling.read("f", "machines: {n1: spark}\n" + THREE_SPARKS, false))
                .isInstanceOf(CommandFailure.class)
                .hasMessageContaining("f:1: \"n1: spark\" is no kind of machine");
    }

    /** Two cables have a subnet each, and two share one; docker0 has one of the plan's. */
    private static final String WITH_ADDRESSES = """
        cables:
          - a:e1=192.168.5.1/30 b:e1=192.168.5.2/30
          - b:e2=fd00::1/64 c:e1=fd00::2/64
          - c:e2=10.1.0.1/24 d:e1=10.1.0.2/24
          - d:e2=10.1.0.3/24,10.9.9.9/32 a:e2=10.1.0.4/24
        used:
          - 10.77.0.1/23
        """;

    @Test
    void aCableWithASubnetOfItsOwnKeepsItAndOthersAreReplaced() {
        Plan plan = plan(Cabling.read("f", WITH_ADDRESSES, false));

        assertThat(plan.subnets().names())
                .containsExactly("192.168.5.0/30", "fd00::/64", "10.77.2.0/24", "10.77.3.0/24");
        assertThat(plan.clusterFile())
                .contains("{device: e1, address: 192.168.5.1/30}", "{device: e2, address: fd00::1/64}");
        assertThat(plan.subnets().replaced())
                .as("but for addresses without a subnet")
                .containsExactly("a e2 10.1.0.4/24", "c e2 10.1.0.1/24", "d e1 10.1.0.2/24", "d e2 10.1.0.3/24");
    }

    @Test
    void theScriptsRemoveWhatIsReplacedAndNothingElse(@TempDir Path folder) throws Exception {
        Path file = Files.writeString(folder.resolve("cables.yaml"), WITH_ADDRESSES);
        Run run = Run.of("plan", file.toString(), "--write", folder + "/my plan");

        assertThat(run.status()).as(run.err()).isZero();
        assertThat(run.out().replaceAll("\\s+", " "))
                .contains("addresses that are replaced, and that apply.sh removes: a e2 10.1.0.4/24, c e2 10.1.0.1/24")
                .contains(
                        "do scp -r '" + folder + "/my plan'/$node $node: && ssh -t $node sudo ./$node/apply.sh; done");
        for (String node : List.of("a", "b", "c", "d")) {
            Path script = folder.resolve("my plan").resolve(node).resolve("apply.sh");
            assertThat(new ProcessBuilder("sh", "-n", script.toString())
                            .inheritIO()
                            .start()
                            .waitFor())
                    .isZero();
        }
        assertThat(folder.resolve("my plan/d/apply.sh"))
                .content()
                .contains("drop e1 10.1.0.2/24\ndrop e2 10.1.0.3/24\n");
        assertThat(folder.resolve("my plan/b/apply.sh")).content().doesNotContain("drop e");
        assertThat(folder.resolve("my plan/a/apply.sh"))
                .content()
                .contains("grep -lF 10.1.0.4/24 /etc/netplan/*.yaml", "remove 10.1.0.4/24 of e2 from $file");
        assertThat(Run.of("plan", file.toString()).out()).contains("ip addr del 10.1.0.4/24 dev e2");
    }

    @Test
    void aSparkHasTwoPorts() {
        assertThatThrownBy(() -> Cabling.shape("star:4", List.of(), true))
                .isInstanceOf(CommandFailure.class)
                .hasMessageContaining("a DGX Spark has two ports, and n1 would have a third cable");
        assertThatThrownBy(() -> Cabling.read("f", "cables:\n- a:eth1 b\n", true))
                .hasMessageContaining("f:2: eth1 is not a port of a DGX Spark");
        assertThat(sparks(Cabling.shape("ring:4", List.of(), true)).oneMore())
                .as("no port is free")
                .isEmpty();
        assertThat(sparks(Cabling.shape("line:3", List.of(), true)).oneMore()).isPresent();
    }

    @Test
    void aSparkAndAnotherMachineUseOneFunction() {
        Plan plan = sparks(Cabling.read("f", "machines: {a: dgx-spark}\ncables:\n- a:enp1s0f0np0 b:eth1\n", false));

        assertThat(plan.subnets().names()).hasSize(1);
        assertThat(plan.allReduce()).isEqualTo(100 / 8.0, within(0.01));
    }

    @Test
    void theCommandSaysWhatSparksShare() {
        assertThat(Run.of("plan", "--shape", "ring:3", "--spark").out())
                .contains("3 nodes, 3 cables of 200 Gbit/s")
                .contains("a cable carries 14.2 GB/s in each direction", "share its PCIe links")
                .contains("all-reduce 14.2 GB/s (bus)", "all-to-all 28.4 GB/s")
                .doesNotContain("all-gather");
    }

    /** But for commands, which are copied. */
    @Test
    void linesFitANarrowTerminal() {
        Machine machine = new Machine(Path.of("/"), Map.of(), "here", "1.2.3", Optional.empty());
        String nodes = "spark-number-one,spark-number-two,spark-number-three,spark-number-four";
        Run run = Run.of(machine, 80, "plan", "--shape", "ring:4", "--spark", "--nodes", nodes);

        assertThat(run.out().lines().filter(line -> !line.startsWith("ip addr")))
                .hasSizeGreaterThan(20)
                .allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(80));
    }

    @Test
    void jsonNamesTheMachine() {
        assertThat(Run.of("plan", "--shape", "ring:3", "--json").out())
                .contains("\"schema\": \"trigon.plan/1\"", "\"host\": \"here\"");
    }

    @Test
    void wrongOptionsAreErrors() {
        assertThat(Run.of("plan").err())
                .contains("trigon plan --nodes a,b,c", "trigon plan cables.yaml", "trigon plan --shape ring:3")
                .containsOnlyOnce("trigon help plan");
        assertThat(Run.of("plan", "--shape", "torus:4").err()).contains("ring, line, star or mesh");
        assertThat(Run.of("plan", "--shape", "mesh:4", "--speed", "0").err()).contains("--speed");
        assertThat(Run.of("plan", "--shape", "mesh:400").err()).contains("do not fit");
        for (String line : List.of(
                "plan",
                "plan --shape torus:4",
                "plan --shape hypercube11",
                "plan --shape ring4 --ports 1",
                "plan --shape ring",
                "plan --shape ring:4 --speed 0",
                "plan --shape ring:4 --base 256",
                "plan --shape ring:4 --prefix 29")) {
            assertThat(Run.of(line.split(" ", -1)).status()).as(line).isEqualTo(2);
        }
        assertThat(Run.of("plan", "--shape", "mesh:400").status()).isEqualTo(1);
        assertThat(Run.of("plan", "/nonexistent/cables").status()).isEqualTo(1);
    }
}
