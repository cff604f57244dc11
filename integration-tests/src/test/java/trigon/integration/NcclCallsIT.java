package trigon.integration;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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

    @TempDir
    Path directory;

    @ParameterizedTest
    @ValueSource(ints = {8, 9, 10, 11, 12})
    void theHostMakesNcclsCallsInNcclsOrder(int api) throws IOException {
        List<String> expected = Files.readAllLines(expectedCalls(api)).stream()
                .filter(line -> !line.startsWith("#"))
                .toList();
        assertThat(expected).hasSizeGreaterThan(40);

        for (Path trace : run(api)) {
            assertThat(Files.readAllLines(trace)).as("%s", trace).isEqualTo(expected);
        }
    }

    private static Path expectedCalls(int api) {
        return Path.of(System.getProperty("trigon.calls"), "v" + api + ".txt");
    }

    /** Two ranks, two communicators one after the other, 16 messages each way. Returns the ranks' traces. */
    private List<Path> run(int api) throws IOException {
        Path file = Files.writeString(directory.resolve("nodes.yaml"), NODES);
        Path rendezvous = Files.createDirectory(directory.resolve("rendezvous"));
        List<HostProgram> hosts = new ArrayList<>();
        List<Path> traces = new ArrayList<>();
        try {
            for (int rank = 0; rank < 2; rank++) {
                traces.add(directory.resolve("calls-of-rank-" + rank));
                hosts.add(new HostProgram(
                        HostProgram.distribution(),
                        directory.resolve("rank-" + rank + ".log"),
                        Map.of("TRIGON_CONFIG", file.toString(), "TRIGON_NODE", rank == 0 ? "a" : "b"),
                        arguments(api, rank, rendezvous, traces.get(rank))));
            }
            for (HostProgram host : hosts) {
                assertThat(host.exitStatus()).as("%s", host.output()).isZero();
            }
            return traces;
        } finally {
            hosts.forEach(HostProgram::close);
        }
    }

    private static String[] arguments(int api, int rank, Path rendezvous, Path trace) {
        String line = "--api %d --rank %d --ranks 2 --communicators 2 --warmup 0 --iterations 1 --bytes 8388608"
                .formatted(api, rank);
        List<String> all = new ArrayList<>(List.of(line.split(" ", -1)));
        all.addAll(List.of("--rendezvous", rendezvous.toString(), "--trace", trace.toString()));
        return all.toArray(String[]::new);
    }
}
