package trigon.integration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The plugin as NCCL loads it over RDMA links, so with what the entry library does by itself: two ranks of one process, each on
 * a thread of its own, over the benchmarks' instant device.
 */
@Timeout(300)
class RdmaHostIT {

    private static final int BYTES = 70000;
    private static final int RANKS = 2;

    /** NCCL's way of reduction sends and receives a vector of two ranks as a whole. */
    private static final long MOVED_PER_ITERATION = 2L * RANKS * BYTES;

    private static final Path INSTANT =
            Path.of(System.getProperty("trigon.odd.host")).resolveSibling("instant");
    private static final Path FAKE_SYSFS =
            Path.of("../benchmarks/native/fake-sysfs.sh").toAbsolutePath();
    private static final Pattern TRAFFIC =
            Pattern.compile("\\(rdma\\): [0-9]+ messages, ([0-9]+) bytes sent and received");

    @TempDir
    private Path scratch;

    @BeforeEach
    void theDeviceIsThere() {
        assumeThat(INSTANT.resolve("libibverbs.so.1"))
                .as("the instant device, which needs libibverbs-dev")
                .exists();
    }

    /** Each element is checked by the host, and every byte is counted; what was counted is said where NCCL ends the network. */
    @ParameterizedTest
    @CsvSource({"11, 0", "11, 2", "12, 0", "12, 5"})
    void everyMessageIsRightAndCounted(int api, int late) throws IOException {
        int iterations = 20;
        String said = run(late, "ring", api, "--iterations", Integer.toString(iterations));

        assertThat(said).contains("rank 0: ", "rank 1: ", " 0 wrong");
        long moved = TRAFFIC.matcher(said)
                .results()
                .mapToLong(match -> Long.parseLong(match.group(1)))
                .max()
                .orElseThrow();
        assertThat(moved).as(said).isEqualTo((iterations + 1) * MOVED_PER_ITERATION); // one to warm up
    }

    @ParameterizedTest
    @CsvSource({"8, 0", "9, 3", "10, 0", "12, 2"})
    void messagesOfManySizesArriveWhole(int api, int late) throws IOException {
        assertThat(run(late, "exchange", api)).contains("rank 0: ", "rank 1: ", " 0 wrong");
    }

    /** Every so many completions of sends are held back until the next poll, or none with 0. */
    private String run(int late, String test, int api, String... more) throws IOException {
        Path nodes = Files.writeString(
                scratch.resolve("nodes.yaml"),
                "version: 1\nlinks: rdma\nnodes:\n  a: {nics: [{address: 127.0.0.1/8}]}\n");
        Map<String, String> environment = Map.of(
                "LD_LIBRARY_PATH", INSTANT.toString(),
                "INSTANTVERBS_LATE", Integer.toString(late),
                "TRIGON_CONFIG", nodes.toString(),
                "TRIGON_NODE", "a");
        List<String> arguments = new ArrayList<>(List.of("--test", test, "--api", Integer.toString(api)));
        arguments.addAll(List.of("--ranks", "2", "--local-ranks", "2", "--channels", "2"));
        arguments.addAll(List.of("--bytes", Integer.toString(BYTES)));
        arguments.addAll(List.of("--rendezvous", scratch.resolve("rendezvous").toString()));
        arguments.addAll(List.of(more));
        try (HostProgram host = new HostProgram(
                List.of("unshare", "-r", FAKE_SYSFS.toString(), "instant"),
                HostProgram.distribution(),
                scratch.resolve("output.txt"),
                environment,
                arguments.toArray(String[]::new))) {
            int exit = host.exitStatus();
            assertThat(exit).as(host.output()).isZero();
            return host.output();
        }
    }
}
