package trigon.integration.nccl;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import trigon.integration.testsupport.HostProgram;
import trigon.testsupport.Sampled;

/**
 * The host program calls the plugin as NCCL does: its calls are compared with those that NCCL's source makes, one file
 * per API version, which names the release and the places in its source.
 */
@Timeout(300)
class NcclCallsIT {

    private static final String NODES = """
            version: 1
            links: software
            nodes:
              a: {nics: [{address: 127.0.12.1/24}]}
              b: {nics: [{address: 127.0.12.2/24}]}
            """;

    private final List<HostProgram> hosts = new ArrayList<>();

    @TempDir
    Path directory;

    @ParameterizedTest
    @Sampled({"8", "9", "10", "11", "12"})
    void theHostMakesNcclsCallsInNcclsOrder(int api) throws IOException {
        List<String> expected = expectedCalls(api);
        assertThat(expected).hasSizeGreaterThan(40);

        for (int rank = 0; rank < 2; rank++) {
            Path trace = directory.resolve("host-" + rank);
            start(api, rank, HostProgram.distribution().resolve("lib/libnccl-net-trigon.so"), trace);
        }

        requireSuccess();
        assertThat(Files.readAllLines(directory.resolve("host-0"))).isEqualTo(expected);
        assertThat(Files.readAllLines(directory.resolve("host-1"))).isEqualTo(expected);
    }

    @Test
    void thePluginThatStandsBetweenNcclAndTrigonSeesTheSame() throws IOException {
        for (int rank = 0; rank < 2; rank++) {
            Path trace = directory.resolve("host-" + rank);
            start(11, rank, HostProgram.distribution().resolve("libexec/libnccl-net-traced.so"), trace);
        }

        requireSuccess();
        assertThat(Files.readAllLines(directory.resolve("between-0"))).isEqualTo(expectedCalls(11));
        assertThat(Files.readAllLines(directory.resolve("between-1"))).isEqualTo(expectedCalls(11));
    }

    @BeforeEach
    void writeNodes() throws IOException {
        Files.writeString(directory.resolve("nodes.yaml"), NODES);
        Files.createDirectory(directory.resolve("rendezvous"));
    }

    @AfterEach
    void endHosts() {
        hosts.forEach(HostProgram::close);
    }

    private static List<String> expectedCalls(int api) throws IOException {
        Path file = Path.of(System.getProperty("trigon.calls"), "v" + api + ".txt");
        return Files.readAllLines(file).stream()
                .filter(line -> !line.startsWith("#"))
                .toList();
    }

    /** One of two ranks, with two communicators one after the other and 16 messages each way. */
    private void start(int api, int rank, Path plugin, Path trace) {
        Map<String, String> environment = Map.of(
                "TRIGON_CONFIG", directory.resolve("nodes.yaml").toString(),
                "TRIGON_NODE", rank == 0 ? "a" : "b",
                "RANK", Integer.toString(rank),
                "WORLD_SIZE", "2",
                "TRACED_PLUGIN",
                        HostProgram.distribution()
                                .resolve("lib/libnccl-net-trigon.so")
                                .toString(),
                "TRACED_FILE", directory.resolve("between-" + rank).toString());
        String line = "--api %d --rank %d --ranks 2 --communicators 2 --warmup 0 --iterations 1 --bytes 8388608"
                .formatted(api, rank);
        List<String> all = new ArrayList<>(List.of(line.split(" ", -1)));
        all.addAll(List.of("--rendezvous", directory.resolve("rendezvous").toString()));
        all.addAll(List.of("--trace", trace.toString(), "--plugin", plugin.toString()));
        Path log = directory.resolve("rank-" + rank + ".log");
        hosts.add(new HostProgram(HostProgram.distribution(), log, environment, all.toArray(String[]::new)));
    }

    private void requireSuccess() {
        for (HostProgram host : hosts) {
            assertThat(host.exitStatus()).as("%s", host.output()).isZero();
        }
    }
}
