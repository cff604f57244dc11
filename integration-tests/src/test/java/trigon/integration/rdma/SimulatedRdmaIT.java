package trigon.integration.rdma;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import trigon.integration.testsupport.CableNamespaces;
import trigon.integration.testsupport.HostProgram;
import trigon.integration.testsupport.NamespaceJob;
import trigon.integration.testsupport.SimulatedDevice;
import trigon.testsupport.Await;
import trigon.testsupport.Sampled;

/**
 * The plugin as NCCL loads it, over RDMA links between processes on nodes of their own, whose devices fail while a job
 * runs. Nothing is set but that the links are RDMA; the host looks at each element.
 */
@Timeout(300)
class SimulatedRdmaIT {

    private static final Duration PATIENCE = Duration.ofMinutes(1);
    private static final Pattern MOVED = Pattern.compile(" goes on over ");
    private static final Pattern SHORT_PASS = Pattern.compile(
            "RDMA packets of 4096 bytes are lost from 10.0.[12].1 to 10.0.[12].2, and packets of 1024 bytes pass");
    private static final String KERNEL_ANSWERS = "does not answer, though its kernel does";
    private static final String FLUSHES_WAIT = "cannot be flushed to the GPU yet";

    @TempDir
    private Path directory;

    private CableNamespaces network;
    private SimulatedDevice device;

    @BeforeEach
    void layCables() {
        network = CableNamespaces.open();
        device = new SimulatedDevice(network);
        List.of("a", "b", "c").forEach(network::node);
        network.cable("a", "one", "10.0.1.1/24", "b", "one", "10.0.1.2/24");
        network.cable("a", "two", "10.0.2.1/24", "b", "two", "10.0.2.2/24");
        List.of("a", "b").forEach(node -> device.plugIn(node, "one", "two"));
    }

    @AfterEach
    void removeNodes() throws Exception {
        if (device != null) {
            device.close();
        }
        if (network != null) {
            network.close();
        }
    }

    @Test
    void eachLinkOfATriangleIsItsOwnSubnet() throws Exception {
        network.cable("b", "three", "10.0.3.2/24", "c", "three", "10.0.3.3/24");
        network.cable("c", "four", "10.0.4.3/24", "a", "four", "10.0.4.1/24");
        device.plugIn("a", "four");
        device.plugIn("b", "three");
        device.plugIn("c", "three", "four");

        try (NamespaceJob job = job("a", "b", "c")) {
            job.awaitRounds(20);
            job.end();

            assertThat(job.output()).contains("via three 10.0.3.2/24 (RDMA)", "via four 10.0.4.3/24 (RDMA)");
        }
    }

    /** What a queue pair does, or a cable: the job goes on elsewhere, and nothing is lost or done twice. */
    @ParameterizedTest
    @Sampled({
        "cut a/one>b/one",
        "cut a/one-b/one",
        "break a/one>b/one executed 40 acked 20",
        "hold a/one>b/one 3s after 50 times 1",
        "qp a/one * error times 2",
        "qp b/one * fatal times 2",
        "cq a/one * overrun times 1",
        "cq b/one * overrun times 1"
    })
    void aJobGoesOnWhen(String rule) throws Exception {
        try (NamespaceJob job = job("a", "b")) {
            job.awaitRounds(20);
            device.control(rule);
            awaitMoves(job);
            job.awaitRounds(20);
            assertThat(rule.startsWith("cut") || device.strikes() > 0)
                    .as(device.control("rules"))
                    .isTrue();
            device.control("mend");
            job.awaitRounds(20);
            job.end();
        }
    }

    /** Neither process may touch the memory, and what was not flushed is wrong. */
    @ParameterizedTest
    @Tag("long")
    @Sampled({"cut a/one-b/one", "break a/one>b/one executed 40 acked 20"})
    void aJobInMemoryOfGpusGoesOnWhen(String rule) throws Exception {
        try (NamespaceJob job = gpuJob(environment())) {
            job.awaitRounds(20);
            device.control(rule);
            awaitMoves(job);
            job.awaitRounds(20);
            device.control("mend");
            job.awaitRounds(20);
            job.end();
        }
    }

    /** What came over a NIC is to be READ by it, which fails while its port is down: flushes wait. */
    @Test
    @Tag("long")
    void aJobInMemoryOfGpusWaitsForThePort() throws Exception {
        try (NamespaceJob job = gpuJob(environment())) {
            job.awaitRounds(20);
            device.control("port a/one down");
            awaitFlushesThatWait(job);
            device.control("port a/one up");
            job.awaitRounds(20);
            job.end();
        }
    }

    /** Then the CUDA driver flushes what it has written. */
    @ParameterizedTest
    @Tag("long")
    @Sampled({"port a/one down", "device a/one fail"})
    void aJobInMemoryOfGpusNeedsNoNicThatIsLost(String fails) throws Exception {
        try (NamespaceJob job = gpuJob(withFakeCuda(Map.of()))) {
            job.awaitRounds(20);
            device.control(fails);
            awaitMoves(job);
            job.awaitRounds(20);
            job.end();

            assertThat(job.output())
                    .contains(
                            "is flushed to the GPU by the CUDA driver", "fakecuda: writes of other devices are flushed")
                    .doesNotContain(FLUSHES_WAIT);
        }
    }

    /** Once the driver has flushed, nothing is waited for there. */
    @Test
    @Tag("long")
    void aJobInMemoryOfGpusLeavesADeviceWhoseCallsStall() throws Exception {
        try (NamespaceJob job = gpuJob(withFakeCuda(Map.of("TRIGON_PEER_TIMEOUT", "10s")))) {
            job.awaitRounds(20);
            device.control("stall a/one 1000s");
            device.control("port a/one down");
            awaitMoves(job);
            job.awaitRounds(20);
            device.control("mend");
            job.awaitRounds(20);
            job.end();
        }
    }

    /** And nothing of a GPU's memory is left, though the job ends with flushes under way. */
    @Test
    @Tag("long")
    void aPortThatStaysDownEndsAJobInMemoryOfGpus() throws Exception {
        Map<String, String> environment = environment();
        environment.put("TRIGON_PEER_TIMEOUT", "3s");
        try (NamespaceJob job = gpuJob(environment)) {
            job.awaitRounds(20);
            device.control("port a/one down");

            assertThat(job.ranks().getFirst().exitStatus()).as(job.output()).isEqualTo(1);
            assertThat(job.ranks().getLast().exitStatus()).as(job.output()).isEqualTo(1);
            assertThat(job.output())
                    .containsPattern("cannot be flushed to the GPU: .* longer than handshake.peerTimeout")
                    .doesNotContain("descriptors of a GPU's memory are left");
        }
    }

    /** Each end's buffers are where its own device reaches, as NCCL decides at each end by itself. */
    @Test
    @Tag("long")
    void nodesMayDifferInWhatTheirNicsReach() throws Exception {
        Function<String, List<String>> by = node -> {
            List<String> command = new ArrayList<>(device.by(node));
            command.addAll(List.of("env", "TRIGON_GPU_MEMORY=" + (node.equals("a") ? "auto" : "off")));
            return command;
        };
        try (NamespaceJob job = gpuJob(by, environment(), "offered")) {
            job.awaitRounds(20);
            device.control("cut a/one-b/one");
            awaitMoves(job);
            job.awaitRounds(20);
            device.control("mend");
            job.awaitRounds(20);
            job.end();

            assertThat(job.ranks().getFirst().output()).contains("trigon0 (one): GPU memory by DMA-BUF");
            assertThat(job.ranks().getLast().output()).doesNotContain("GPU memory by");
        }
    }

    /** Then it cannot flush, and NCCL is told so before it relies on that. */
    @Test
    @Tag("long")
    void aNicThatPassesNothingToItselfReachesNoGpu() throws Exception {
        Map<String, String> environment = environment();
        environment.put("SIMVERBS_RULES", "cut a/one>a/one");
        environment.put("TRIGON_GPU_MEMORY", "auto");
        try (NamespaceJob job = job(environment, "a", "b")) {
            job.awaitRounds(20);
            job.end();

            assertThat(job.ranks().getFirst().output())
                    .contains("GPU memory is off: one passes nothing to itself")
                    .doesNotContain("GPU memory by");
            assertThat(job.ranks().getLast().output()).contains("GPU memory by");
        }
    }

    /** There the driver's flush would do nothing, though NCCL asks for one. */
    @Test
    @Tag("long")
    void aDriverThatClaimsAllInOrderIsNotAsked() throws Exception {
        try (NamespaceJob job = gpuJob(withFakeCuda(Map.of("FAKE_CUDA_ORDERING", "200")))) {
            job.awaitRounds(20);
            device.control("port a/one down");
            awaitFlushesThatWait(job);
            device.control("port a/one up");
            job.awaitRounds(20);
            job.end();
        }
    }

    private Map<String, String> withFakeCuda(Map<String, String> more) {
        Map<String, String> environment = environment();
        environment.merge(
                "LD_LIBRARY_PATH",
                Path.of(System.getProperty("trigon.odd.host"))
                        .resolveSibling("fake-cuda")
                        .toString(),
                "%s:%s"::formatted);
        environment.putAll(more);
        return environment;
    }

    @ParameterizedTest
    @Tag("long")
    @Sampled({
        "port a/one down, port a/one up",
        "port b/one armed, port b/one up",
        "device b/one fail, device b/one return",
        "device a/one remove, device a/one return"
    })
    void aJobGoesOnWithout(String fails, String returns) throws Exception {
        try (NamespaceJob job = job("a", "b")) {
            job.awaitRounds(20);
            device.control(fails);
            awaitMoves(job);
            job.awaitRounds(20);
            device.control(returns);
            job.awaitRounds(20);
            job.end();
        }
    }

    @Test
    @Tag("long")
    void aJobGoesOnWhenAnInterfaceGoesDown() throws Exception {
        try (NamespaceJob job = job("a", "b")) {
            job.awaitRounds(20);
            network.set("a", "one", false);
            awaitMoves(job);
            job.awaitRounds(20);
            network.set("a", "one", true);
            job.awaitRounds(20);
            job.end();
        }
    }

    /** Those that nobody uses come and go; the place of one that is in use becomes another's, under connections. */
    @Test
    @Tag("long")
    void aJobGoesOnWhenGidsMove() throws Exception {
        try (NamespaceJob job = job("a", "b")) {
            job.awaitRounds(20);
            network.inside("a", "ip address add 10.0.7.1/24 dev one");
            job.awaitRounds(20);
            assertThat(job.output()).doesNotContainPattern(MOVED);
            network.inside("a", "ip address del 10.0.1.1/24 dev one");
            network.inside("a", "ip address add 10.0.8.1/24 dev one");
            network.inside("a", "ip address add 10.0.1.1/24 dev one");
            awaitMoves(job);
            job.awaitRounds(20);
            Await.until(job::output, PATIENCE, () -> job.output().contains(" returns to one "));
            job.awaitRounds(20);
            network.inside("a", "ip address del 10.0.7.1/24 dev one");
            network.inside("a", "ip address del 10.0.2.1/24 dev two");
            job.awaitRounds(20);
            network.inside("a", "ip address add 10.0.2.1/24 dev two");
            job.awaitRounds(20);
            job.end();
        }
    }

    /** The other waits for it, however long, and nobody leaves a link. */
    @Test
    @Tag("long")
    void aDeviceGoesOnWhileItsProgramIsStopped() throws Exception {
        Map<String, String> environment = environment();
        environment.put("TRIGON_PEER_TIMEOUT", "5s");
        try (NamespaceJob job = job(environment, "a", "b")) {
            job.awaitRounds(20);
            device.control("stop b for 30s");
            Await.until("the program stands still", () -> device.strikes() > 0);
            job.awaitRounds(20);
            job.end();

            assertThat(job.output()).doesNotContainPattern(MOVED);
        }
    }

    @Test
    @Tag("long")
    void aJobWaitsForARankThatIsStoppedWithItsDevice() throws Exception {
        Map<String, String> environment = environment();
        environment.put("TRIGON_PEER_TIMEOUT", "3s");
        try (NamespaceJob job = job(environment, "a", "b")) {
            job.awaitRounds(20);
            job.ranks().get(1).signal("STOP");
            Await.until(
                    job::output, PATIENCE, () -> job.ranks().getFirst().output().contains(KERNEL_ANSWERS));
            job.ranks().get(1).signal("CONT");
            awaitStopped(job);
            job.awaitRounds(20);
            job.end();

            assertThat(job.output()).doesNotContainPattern(MOVED);
        }
    }

    /** Two functions of a port are devices of their own, which one cable takes with it. */
    @Test
    @Tag("long")
    void aJobGoesOnWithoutBothFunctionsOfAPort() throws Exception {
        network.cable("a", "three", "10.0.3.1/24", "b", "three", "10.0.3.2/24");
        List.of("a", "b").forEach(node -> device.plugIn(node, "three"));
        try (NamespaceJob job = job("a", "b")) {
            job.awaitRounds(20);
            device.control("cut a/one-b/one ; cut a/two-b/two");
            Await.until(
                    job::output,
                    PATIENCE,
                    () -> job.ranks().stream().allMatch(rank -> rank.output().contains(" goes on over three ")));
            job.awaitRounds(20);
            device.control("mend");
            job.awaitRounds(20);
            job.end();
        }
    }

    /** A firmware that is busy holds the threads that wait for it, and no other device's connections. */
    @Test
    @Tag("long")
    void aDeviceWhoseCallsStallHoldsUpNoOther() throws Exception {
        network.cable("b", "three", "10.0.3.2/24", "c", "three", "10.0.3.3/24");
        network.cable("c", "four", "10.0.4.3/24", "a", "four", "10.0.4.1/24");
        network.cable("c", "five", "10.0.5.3/24", "a", "five", "10.0.5.1/24");
        device.plugIn("a", "four", "five");
        device.plugIn("b", "three");
        device.plugIn("c", "three", "four", "five");
        Map<String, String> environment = environment();
        environment.put("TRIGON_STRIPES", "one");

        try (NamespaceJob job = job(environment, "a", "b", "c")) {
            job.awaitRounds(20);
            device.control("stall a/one 1000s");
            device.control("port a/one down");
            device.control("port a/four down");
            Await.until(
                    job::output,
                    PATIENCE,
                    () -> job.ranks().stream()
                                    .filter(rank -> rank.output().contains("goes on over five"))
                                    .count()
                            == 2);
            device.control("mend");
            job.awaitRounds(20);
            job.end();
        }
    }

    /** Its connections fence what they have there without its firmware, and let go of it once that answers. */
    @ParameterizedTest
    @Tag("long")
    @Sampled({"port a/one down", "cut a/one-b/one", "qp a/one * error", "qp b/one * fatal"})
    void connectionsLeaveADeviceWhoseCallsStall(String fails) throws Exception {
        try (NamespaceJob job = job("a", "b")) {
            job.awaitRounds(20);
            device.control("stall a/one 1000s");
            device.control(fails);
            awaitMoves(job);
            job.awaitRounds(20);
            device.control("mend");
            job.awaitRounds(20);
            job.end();
        }
    }

    /** Those who wait for it hear that it is gone, and let go of it; so does the job at its end. */
    @Test
    @Tag("long")
    void aDeviceIsRemovedWhileCallsAreUnderWay() throws Exception {
        try (NamespaceJob job = job("a", "b")) {
            job.awaitRounds(20);
            device.control("stall a/one 1000s");
            device.control("port a/one down");
            Await.until(
                    job::output, PATIENCE, () -> job.ranks().getFirst().output().contains("PORT_ERROR"));
            device.control("device a/one remove");
            awaitMoves(job);
            job.awaitRounds(20);
            job.end();
        }
    }

    /** A device of two may have no descriptors, memory or node for the user. */
    @ParameterizedTest
    @Tag("long")
    @Sampled({"5, EIO; ", "12, ENOMEM; ", "13, EACCES; ", "24, EMFILE; "})
    void aDeviceThatCannotBeOpenedIsLeftOut(int errno, String why) throws Exception {
        Map<String, String> environment = environment();
        environment.put("SIMVERBS_RULES", "open a/one " + errno);
        try (NamespaceJob job = job(environment, "a", "b")) {
            job.awaitRounds(20);
            job.end();

            assertThat(job.ranks().getFirst().output())
                    .containsPattern("WARN.* one is not used: ibv_open_device failed on one: " + why)
                    .containsPattern("two 10.0.2.1/24 \\(RDMA\\): [1-9]");
        }
    }

    /** A subnet manager puts the partition keys where it likes. */
    @ParameterizedTest
    @Tag("long")
    @Sampled({"0x7fff:0xffff", "0x8001:0xffff", "0x7fff:0x8001:0x8002"})
    void thePartitionIsTheDefaultOneOrAFullMembers(String keys) throws Exception {
        Map<String, String> environment = environment();
        environment.put("SIMVERBS_PKEYS", keys.replace(':', ','));
        try (NamespaceJob job = job(environment, "a", "b")) {
            job.awaitRounds(20);
            job.end();

            assertThat(job.ranks().getFirst().output())
                    .contains("over one 10.0.1.1/24 (RDMA)", "over two 10.0.2.1/24 (RDMA)");
        }
    }

    @Test
    @Tag("long")
    void limitedMembersOfAPartitionAreRefused() throws Exception {
        Map<String, String> environment = environment();
        environment.put("SIMVERBS_PKEYS", "0x7fff,0x0001");
        environment.put("TRIGON_LINKS", "auto");
        try (NamespaceJob job = job(environment, "a", "b")) {
            job.awaitRounds(20);
            job.end();

            assertThat(job.output()).containsPattern("WARN.* one is not used: .*limited member .*0x7fff, 0x0001");
        }
    }

    /** One whose package is older than the call that reads GID tables. */
    @Test
    @Tag("long")
    void anOldLibraryDoes() throws Exception {
        Path present = Path.of(device.environment().get("LD_LIBRARY_PATH"), "libibverbs.so.1");
        String old = new String(Files.readAllBytes(present), StandardCharsets.ISO_8859_1)
                .replace("_ibv_query_gid_table", "_ibv_query_gid_tab__");
        Files.writeString(directory.resolve("libibverbs.so.1"), old, StandardCharsets.ISO_8859_1);
        Map<String, String> environment = environment();
        environment.put("LD_LIBRARY_PATH", directory.toString());
        try (NamespaceJob job = job(environment, "a", "b")) {
            job.awaitRounds(20);
            job.end();

            assertThat(job.ranks().getFirst().output())
                    .contains("over one 10.0.1.1/24 (RDMA)", "over two 10.0.2.1/24 (RDMA)");
        }
    }

    @ParameterizedTest
    @Tag("long")
    @Sampled({"down, DOWN", "init, INITIALIZING", "armed, ARMED"})
    void onlyAnActivePortIsUsed(String state, String word) throws Exception {
        try (NamespaceJob first = job("a", "b")) { // makes the fabric
            first.awaitRounds(1);
            device.control("port a/one " + state);
            first.end();
        }
        try (NamespaceJob job = job("a", "b")) {
            job.awaitRounds(20);
            job.end();

            assertThat(job.ranks().getFirst().output())
                    .contains("not used: one: the port is " + word + ", not ACTIVE")
                    .containsPattern("two 10.0.2.1/24 \\(RDMA\\): [1-9]");
        }
    }

    /** Packets of the former size are lost then; the cable is used again with shorter ones. */
    @Test
    @Tag("long")
    void aPortsMtuBecomesLessWhileAJobRuns() throws Exception {
        for (String end : List.of("a one", "b one", "a two", "b two")) {
            network.inside(end.substring(0, 1), "ip link set " + end.substring(2) + " mtu 9000");
        }
        try (NamespaceJob job = job("a", "b")) {
            job.awaitRounds(20);
            network.inside("b", "ip link set one mtu 1500");
            awaitMoves(job);
            job.awaitRounds(20);
            Await.until(job::output, PATIENCE, () -> job.output().contains(" returns to one "));
            job.awaitRounds(20);
            job.end();
        }
    }

    /** A NIC sends again what is lost, or held back by pause frames, so nobody else notices. */
    @ParameterizedTest
    @Tag("long")
    @Sampled({
        "loss a/one>b/one 5% ; ack-loss a/one>b/one 5%",
        "loss a/one-b/one 1%",
        "delay a/one>b/one 0us..2ms",
        "delay a/one-b/one 300ms",
        "delay a/one-b/one 900ms"
    })
    void aNicMakesGood(String rules) throws Exception {
        try (NamespaceJob job = job("a", "b")) {
            job.awaitRounds(20);
            device.control(rules);
            Await.until(job::output, PATIENCE, () -> device.strikes() > 8);
            device.control("mend");
            job.awaitRounds(20);
            job.end();

            assertThat(job.output()).doesNotContainPattern(MOVED);
        }
    }

    /** Where TCP gets through and RDMA does not, a connection is made elsewhere. */
    @Test
    @Tag("long")
    void aCableThatCarriesNoRdmaIsNotTaken() throws Exception {
        try (NamespaceJob first = job("a", "b")) { // makes the fabric
            first.awaitRounds(1);
            device.control("cut a/one>b/one");
            first.end();
        }
        try (NamespaceJob job = job("a", "b")) {
            job.awaitRounds(20);
            job.end();

            assertThat(job.output())
                    .contains("an RDMA WRITE is not acknowledged, though TCP gets through")
                    .containsPattern("one 10.0.1.1/24 \\(RDMA\\): 0 messages");
        }
    }

    /** Short packets are used where RDMA passes in no others, though TCP does, if nothing better leads there. */
    @ParameterizedTest
    @Tag("long")
    @Sampled({"loss-over a>b 1024", "loss-over a-b 1024"})
    void whereLongPacketsAreLostTheyAreShort(String rule) throws Exception {
        for (String end : List.of("a one", "b one", "a two", "b two")) {
            network.inside(end.substring(0, 1), "ip link set " + end.substring(2) + " mtu 9000");
        }
        try (NamespaceJob job = job("a", "b")) {
            job.awaitRounds(20);
            device.control(rule);
            Await.until(
                    job::output,
                    PATIENCE,
                    () -> SHORT_PASS.matcher(job.output()).find());
            job.awaitRounds(20);
            job.end();
        }
        try (NamespaceJob job = job("a", "b")) {
            job.awaitRounds(20);
            job.end();

            assertThat(job.output()).containsPattern(SHORT_PASS).doesNotContain("is not acknowledged");
        }
    }

    @Test
    @Tag("long")
    void aRankThatIsKilledEndsTheOthers() throws Exception {
        try (NamespaceJob job = job("a", "b")) {
            job.awaitRounds(20);
            job.ranks().get(1).signal("KILL");

            assertThat(job.ranks().getFirst().exitStatus()).isNotZero();
            assertThat(job.ranks().getFirst().output()).containsPattern("lost .*10.0.[12].2");
        }
    }

    private static void awaitFlushesThatWait(NamespaceJob job) {
        Await.until(job::output, PATIENCE, () -> job.ranks().getFirst().output().contains(FLUSHES_WAIT));
    }

    private static void awaitStopped(NamespaceJob job) {
        Await.until(
                job::output,
                PATIENCE,
                () -> job.ranks().getFirst().output().contains(KERNEL_ANSWERS)
                        && job.ranks().getFirst().output().contains("answers again"));
    }

    private static void awaitMoves(NamespaceJob job) {
        Await.until(
                job::output,
                PATIENCE,
                () -> job.ranks().stream()
                        .allMatch(rank -> MOVED.matcher(rank.output()).find()));
    }

    private NamespaceJob job(String... nodes) throws Exception {
        return job(environment(), nodes);
    }

    private NamespaceJob job(Map<String, String> environment, String... nodes) throws Exception {
        return new NamespaceJob(device::by, Files.createTempDirectory(directory, "job"), environment, List.of(nodes));
    }

    private NamespaceJob gpuJob(Map<String, String> environment) throws Exception {
        return gpuJob(device::by, environment, "both");
    }

    private NamespaceJob gpuJob(Function<String, List<String>> by, Map<String, String> environment, String ends)
            throws Exception {
        return new NamespaceJob(
                by, Files.createTempDirectory(directory, "job"), environment, List.of("a", "b"), "--gpu-memory", ends);
    }

    private Map<String, String> environment() {
        Map<String, String> environment = new HashMap<>(HostProgram.QUICK_START);
        environment.putAll(device.environment());
        return environment;
    }
}
