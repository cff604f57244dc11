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
import org.junit.jupiter.params.provider.ValueSource;
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
        List<String> expected = expectedCalls("v" + api);
        assertThat(expected).hasSizeGreaterThan(40);

        for (int rank = 0; rank < 2; rank++) {
            Path trace = directory.resolve("host-" + rank);
            start("--api " + api, rank, plugin().toString(), trace);
        }

        requireSuccess();
        assertThat(Files.readAllLines(directory.resolve("host-0"))).isEqualTo(expected);
        assertThat(Files.readAllLines(directory.resolve("host-1"))).isEqualTo(expected);
    }

    /** RCCL of ROCm 6.2 takes no path; later ones pass four bytes in the place of a handle, which nobody may touch. */
    @ParameterizedTest
    @ValueSource(strings = {"rccl-6.2", "rccl-current"})
    void rcclsCallsAreMadeInRcclsOrder(String library) throws IOException {
        List<String> expected = expectedCalls(library);
        assertThat(expected).hasSizeGreaterThan(40);

        for (int rank = 0; rank < 2; rank++) {
            String plugin = library.equals("rccl-6.2") ? "trigon" : plugin().toString();
            start("--as " + library, rank, plugin, directory.resolve("host-" + rank));
        }

        requireSuccess();
        assertThat(Files.readAllLines(directory.resolve("host-0"))).isEqualTo(expected);
        assertThat(Files.readAllLines(directory.resolve("host-1"))).isEqualTo(expected);
        assertThat(hosts).allSatisfy(host -> assertThat(host.output()).containsPattern("started on Java .* for RCCL"));
    }

    @Test
    void thePluginThatStandsBetweenNcclAndTrigonSeesTheSame() throws IOException {
        for (int rank = 0; rank < 2; rank++) {
            Path trace = directory.resolve("host-" + rank);
            Path between = HostProgram.distribution().resolve("libexec/libnccl-net-traced.so");
            start("--api 11", rank, between.toString(), trace);
        }

        requireSuccess();
        assertThat(Files.readAllLines(directory.resolve("between-0"))).isEqualTo(expectedCalls("v11"));
        assertThat(Files.readAllLines(directory.resolve("between-1"))).isEqualTo(expectedCalls("v11"));
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

    private static Path plugin() {
        return HostProgram.distribution().resolve("lib/libnccl-net-trigon.so");
    }

    private static List<String> expectedCalls(String name) throws IOException {
        Path file = Path.of(System.getProperty("trigon.calls"), name + ".txt");
        return Files.readAllLines(file).stream()
                .filter(line -> !line.startsWith("#"))
                .toList();
    }

    /** One of two ranks, with two communicators one after the other and 16 messages each way. */
    private void start(String caller, int rank, String plugin, Path trace) {
        Map<String, String> environment = Map.of(
                "TRIGON_CONFIG", directory.resolve("nodes.yaml").toString(),
                "TRIGON_NODE", rank == 0 ? "a" : "b",
                "RANK", Integer.toString(rank),
                "WORLD_SIZE", "2",
                "LD_LIBRARY_PATH", HostProgram.fakeRccl() + ":" + plugin().getParent(),
                "TRACED_PLUGIN", plugin().toString(),
                "TRACED_FILE", directory.resolve("between-" + rank).toString());
        String line = "%s --rank %d --ranks 2 --communicators 2 --warmup 0 --iterations 1 --bytes 8388608"
                .formatted(caller, rank);
        List<String> all = new ArrayList<>(List.of(line.split(" ", -1)));
        all.addAll(List.of("--rendezvous", directory.resolve("rendezvous").toString()));
        all.addAll(List.of("--trace", trace.toString(), "--plugin", plugin));
        Path log = directory.resolve("rank-" + rank + ".log");
        hosts.add(new HostProgram(HostProgram.distribution(), log, environment, all.toArray(String[]::new)));
    }

    private void requireSuccess() {
        for (HostProgram host : hosts) {
            assertThat(host.exitStatus()).as("%s", host.output()).isZero();
        }
    }
}
