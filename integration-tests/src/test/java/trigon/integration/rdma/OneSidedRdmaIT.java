package trigon.integration.rdma;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import trigon.integration.testsupport.HostProgram;
import trigon.testsupport.Sampled;

/**
 * One-sided communication over two RDMA devices between the ranks: all within one process, over the instant device.
 * Each device has keys of its own for a window, and the host looks at each byte and each signal.
 */
@Timeout(120)
@Tag("long")
class OneSidedRdmaIT {

    @TempDir
    private Path scratch;

    @BeforeEach
    void theDeviceIsThere() throws IOException, InterruptedException {
        InstantDevice.assumeItIsThere(InstantDevice.ON_TWO_CABLES);
    }

    /** Long puts go over both, each part by its device's key, also where completions come late. */
    @ParameterizedTest
    @Sampled({"gin, 0", "rma, 3"})
    void everyByteArrivesByTheKeyOfItsDevice(String order, String late) throws IOException {
        String said = run(Map.of("TRIGON_STRIPES", "all", "SIMVERBS_LATE", late), order, 20);

        assertThat(said)
                .containsPattern("one 10.1.12.1/24 \\(RDMA\\): [0-9]+ messages, [1-9]")
                .containsPattern("two 10.1.13.1/24 \\(RDMA\\): [0-9]+ messages, [1-9]");
    }

    /** Connections go on by new queue pairs; nothing is lost, or done twice. */
    @ParameterizedTest
    @Sampled({"gin, one, 0", "rma, all, 3"})
    void nothingIsLostOrDoneTwiceWhenQueuePairsFail(String order, String stripes, String late) throws IOException {
        String said = run(InstantDevice.failingQueuePairs(stripes, late), order, 150);

        assertThat(said.lines().filter(line -> line.contains("simverbs: queue pair ")))
                .hasSizeGreaterThan(5);
        assertThat(said.lines().filter(line -> line.contains(" goes on over "))).hasSizeGreaterThan(5);
    }

    @ParameterizedTest
    @Sampled({"gin", "rma"})
    void aRankThatEndsDoesNotEndTheOthers(String order) throws IOException {
        String said = run(Map.of(), "--order", order, "--ranks", "3", "--test", "leave", "--threads");

        assertThat(said).contains("leave: 3 ranks").doesNotContainPattern("with rank \\d has failed");
    }

    private String run(Map<String, String> more, String order, int rounds) throws IOException {
        String said =
                run(more, "--order", order, "--ranks", "2", "--test", "rounds", "--count", "" + rounds, "--threads");
        assertThat(said).contains("\"wrong\": 0");
        return said;
    }

    private String run(Map<String, String> more, String... arguments) throws IOException {
        Path nodes = Files.writeString(scratch.resolve("nodes.yaml"), """
                version: 1
                links: rdma
                nodes:
                  a: {nics: [{device: one, address: 10.1.12.1/24}, {device: two, address: 10.1.13.1/24}]}
                """);
        Map<String, String> environment = new HashMap<>(more);
        environment.putAll(InstantDevice.LIBRARY);
        environment.putAll(InstantDevice.TWO);
        environment.put("TRIGON_CONFIG", nodes.toString());
        environment.put("TRIGON_NODE", "a");
        environment.put("TRIGON_ONE_SIDED", "on");
        try (HostProgram host = HostProgram.oneSided(
                InstantDevice.ON_TWO_CABLES, scratch.resolve("output.txt"), environment, arguments)) {
            int exit = host.exitStatus();
            assertThat(exit).as(host.output()).isZero();
            return host.output();
        }
    }
}
