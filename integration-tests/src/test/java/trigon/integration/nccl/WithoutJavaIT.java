package trigon.integration.nccl;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import trigon.integration.testsupport.HostProgram;

/**
 * The messages of a connection that runs as usual, over software links: C moves them from the first one on. The JVM
 * knows each thread that has called it once.
 */
@Timeout(300)
class WithoutJavaIT {

    private static final int ITERATIONS = 10_000;

    @TempDir
    private Path directory;

    private final List<HostProgram> hosts = new ArrayList<>();

    @AfterEach
    void close() {
        hosts.forEach(HostProgram::close);
    }

    /** Each of them takes several calls: nearly a million at each end. */
    @Test
    void noCallForAShortMessageReachesJava() {
        assertThat(exits(Map.of(), 64, ITERATIONS, "--without-java")).containsOnly(0);
    }

    /** Those that are kept in each of the rings of copies, which grow from one to the next; and one that is not. */
    @ParameterizedTest
    @ValueSource(ints = {5000, 40_000, 70_000})
    void noCallForALongerMessageReachesJava(int bytes) {
        assertThat(exits(Map.of(), bytes, 2000, "--without-java")).containsOnly(0);
    }

    @Test
    void withoutLanesJavaMovesTheMessages() {
        Map<String, String> off = Map.of("TRIGON_LANES", "off");

        assertThat(exits(off, 70_000, 200)).containsOnly(0);
        assertThat(exits(off, 64, 200, "--without-java")).containsOnly(1);
    }

    private List<Integer> exits(Map<String, String> settings, int bytes, int iterations, String... more) {
        int runs = hosts.size();
        for (int rank = 0; rank < 2; rank++) {
            List<String> arguments = new ArrayList<>(List.of(
                    "--test",
                    "exchange",
                    "--rank",
                    Integer.toString(rank),
                    "--ranks",
                    "2",
                    "--bytes",
                    Integer.toString(bytes),
                    "--iterations",
                    Integer.toString(iterations),
                    "--rendezvous",
                    directory.resolve("rendezvous." + runs).toString()));
            arguments.addAll(List.of(more));
            Map<String, String> environment = new HashMap<>(settings);
            environment.put("RANK", Integer.toString(rank));
            environment.put("TRIGON_LINKS", "software");
            hosts.add(new HostProgram(
                    HostProgram.distribution(),
                    directory.resolve("output." + runs + "." + rank),
                    environment,
                    arguments.toArray(String[]::new)));
        }
        List<HostProgram> started = hosts.subList(runs, runs + 2);
        List<Integer> exits = started.stream().map(HostProgram::exitStatus).toList();
        System.err.println(started.stream().map(HostProgram::output).collect(Collectors.joining("\n---\n")));
        return exits;
    }
}
