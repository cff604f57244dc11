package trigon.integration.rdma;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import trigon.integration.testsupport.HostProgram;
import trigon.testsupport.Sampled;

/**
 * Messages from and to memory that the CPU may not touch, as that of a GPU: it would crash. The device withholds what
 * is written there until a READ on the same device, so data that were not flushed are wrong. The host closes each
 * descriptor at once, and counts those that are left in the end.
 */
@Timeout(300)
class GpuMemoryIT {

    private static final String TWO_NICS = """
            version: 1
            links: rdma
            nodes:
              a: {nics: [{device: one, address: 10.1.12.1/24}, {device: two, address: 10.1.13.1/24}]}
            """;

    @TempDir
    private Path scratch;

    @BeforeEach
    void theDeviceIsThere() throws IOException, InterruptedException {
        InstantDevice.assumeItIsThere(InstantDevice.AS_TWO_NICS);
    }

    @ParameterizedTest
    @Sampled({"8", "9", "10", "11", "12"})
    void isTouchedByTheDeviceAlone(int api) throws IOException {
        run(Map.of(), "--test", "exchange", "--api", Integer.toString(api), "--bytes", "70000");
    }

    /** C moves and flushes what comes, from the first message on: the JVM knows each thread that has called it once. */
    @Test
    void noCallForAMessageReachesJava() throws IOException {
        run(Map.of(), "--test", "exchange", "--bytes", "70000", "--iterations", "200", "--without-java");
    }

    /** Then a message comes over two devices, and each of them is to be read. */
    @ParameterizedTest
    @Tag("long")
    @Sampled({"one, 0", "all, 0", "all, 3"})
    void isFlushedOnEachDevice(String stripes, String late) throws IOException {
        Map<String, String> device = Map.of("TRIGON_STRIPES", stripes, "SIMVERBS_LATE", late);

        run(device, "--test", "ring", "--bytes", "1000000", "--iterations", "20");
    }

    /** Each for the connections that NCCL wants over that NIC. */
    @Test
    @Tag("long")
    void ncclSeesADeviceForEachNic() throws IOException {
        Map<String, String> settings = Map.of("TRIGON_GPU_MEMORY", "auto");
        try (HostProgram host = start(TWO_NICS, settings, "--test", "exchange", "--bytes", "70000", "--verbose")) {
            assertRight(host);
            assertThat(host.output())
                    .contains("trigon0 (one): GPU memory by DMA-BUF", "trigon1 (two): GPU memory by DMA-BUF")
                    .containsPattern("device 0: trigon0, .* pointers 5,")
                    .containsPattern("device 1: trigon1, .* pointers 5,")
                    .contains("sends to a 10.1.12.1 via one ", "sends to a 10.1.13.1 via two ");
        }
    }

    /** What fails is made good over the other device; the descriptors were closed long before. */
    @ParameterizedTest
    @Tag("long")
    @Sampled({
        "SIMVERBS_QUEUE_PAIR_FAULTS, 1000, one, queue pair ",
        "SIMVERBS_QUEUE_PAIR_FAULTS, 1000, all, queue pair ",
        "SIMVERBS_PORT_FAULTS, 10000, one, the port of ",
        "SIMVERBS_GID_MOVES, 10000, one, the GID of "
    })
    void goesOnOverAnotherDeviceWhen(String fault, String every, String stripes, String fails) throws IOException {
        Path end = scratch.resolve("until");
        Map<String, String> device = Map.of(fault, every, "TRIGON_STRIPES", stripes);
        try (HostProgram host =
                start(TWO_NICS, device, "--bytes", "70000", "--iterations", "100000000", "--until", end.toString())) {
            host.awaitOutput(
                    said -> count(said, "simverbs: " + fails) > 10 && count(said, " goes on over ") > 10,
                    "more than 10 failures that were survived");
            Files.createFile(end);
            assertRight(host);
        }
    }

    private static long count(String said, String what) {
        return said.lines().filter(line -> line.contains(what)).count();
    }

    /** It would end at an address that the CPU may not touch; where only the receiver knows that, it refuses. */
    @ParameterizedTest
    @Tag("long")
    @Sampled({"both", "receive"})
    void doesNotGoOnByTcp(String ends) throws IOException {
        String nics = "version: 1\nlinks: auto\nnodes: {a: {nics: [{device: one, address: 10.1.12.1/24}]}}\n";
        Map<String, String> device = Map.of("SIMVERBS_PORT_FAULTS", "5000", "TRIGON_PEER_TIMEOUT", "2s");
        try (HostProgram host =
                start(nics, device, "--bytes", "70000", "--iterations", "100000000", "--gpu-memory", ends)) {
            assertThat(host.exitStatus()).as(host.output()).isEqualTo(1);
            assertThat(host.output())
                    .contains("the port of one goes down")
                    .containsPattern("(cannot carry GPU memory|memory of a GPU cannot go over lo )")
                    .doesNotContain(" goes on over ", "descriptors of a GPU's memory are left");
        }
    }

    @Test
    void isRefusedOnSoftwareLinks() throws IOException {
        String nics = "version: 1\nlinks: software\nnodes: {a: {nics: [{address: 10.1.12.1/24}]}}\n";
        try (HostProgram host = start(nics, Map.of())) {
            assertThat(host.exitStatus()).as(host.output()).isEqualTo(1);
            assertThat(host.output()).contains("regMrDmaBuf failed", "EOPNOTSUPP", "lo 10.1.12.1");
        }
    }

    private void run(Map<String, String> more, String... arguments) throws IOException {
        try (HostProgram host = start(TWO_NICS, more, arguments)) {
            assertRight(host);
        }
    }

    private static void assertRight(HostProgram host) {
        assertThat(host.exitStatus()).as(host.output()).isZero();
        assertThat(host.output()).contains("rank 0: ", "rank 1: ", " 0 wrong");
    }

    private HostProgram start(String nodes, Map<String, String> more, String... arguments) throws IOException {
        Map<String, String> environment = new HashMap<>(HostProgram.QUICK_START);
        environment.putAll(InstantDevice.LIBRARY);
        environment.putAll(InstantDevice.TWO);
        environment.put(
                "TRIGON_CONFIG",
                Files.writeString(scratch.resolve("nodes.yaml"), nodes).toString());
        environment.put("TRIGON_NODE", "a");
        environment.putAll(more);
        List<String> all = new ArrayList<>(List.of("--ranks", "2", "--local-ranks", "2"));
        all.addAll(List.of(
                "--channels", "2", "--rendezvous", scratch.resolve("rendezvous").toString()));
        all.addAll(List.of("--gpu-memory", "both")); // the last one counts
        all.addAll(List.of(arguments));
        return new HostProgram(
                InstantDevice.AS_TWO_NICS,
                HostProgram.distribution(),
                scratch.resolve("output.txt"),
                environment,
                all.toArray(String[]::new));
    }
}
