package trigon.integration.testsupport;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Nodes a, b and c, each cable a subnet of its own, on software links; one host process per node.
 *
 * @param directory for the cluster file and the logs
 * @param distribution the plugin's
 * @param file the cluster file
 */
public record Triangle(Path directory, Path distribution, Path file) {

    private static final List<String> NODES = List.of("a", "b", "c");

    /**
     * A triangle.
     *
     * @param order which node lists its second NIC first: a bit per node
     */
    public static Triangle of(Path directory, Path distribution, int order) {
        String text = "version: 1\nlinks: software\nnodes:\n"
                + node("a", "127.0.12.1/24", "127.0.13.1/24", order & 1)
                + node("b", "127.0.12.2/24", "127.0.23.2/24", order & 2)
                + node("c", "127.0.13.3/24", "127.0.23.3/24", order & 4);
        try {
            return new Triangle(directory, distribution, Files.writeString(directory.resolve("triangle.yaml"), text));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String node(String name, String first, String second, int swapped) {
        return "  %s: {nics: [{address: %s}, {address: %s}]}%n"
                .formatted(name, swapped == 0 ? first : second, swapped == 0 ? second : first);
    }

    /** Runs the host with these arguments on all nodes, and requires that all succeed. Returns the logs by node. */
    public Map<String, String> run(String... arguments) {
        return run(Map.of(), arguments);
    }

    /**
     * The same.
     *
     * @param environment more variables, of all nodes
     */
    public Map<String, String> run(Map<String, String> environment, String... arguments) {
        List<HostProgram> hosts = start(environment, arguments);
        try {
            Map<String, String> logs = new LinkedHashMap<>();
            for (int rank = 0; rank < NODES.size(); rank++) {
                int status = hosts.get(rank).exitStatus();
                String log = hosts.get(rank).output();
                assertThat(status)
                        .as("exit status of rank %d; its log:%n%s", rank, log)
                        .isZero();
                logs.put(NODES.get(rank), log);
            }
            return logs;
        } finally {
            hosts.forEach(HostProgram::close);
        }
    }

    /**
     * Starts the host with these arguments on all nodes.
     *
     * @param environment more variables, of all nodes
     * @return a rank each, to be closed by the caller
     */
    public List<HostProgram> start(Map<String, String> environment, String... arguments) {
        return start(List.of(), environment, arguments);
    }

    /**
     * The same, where the last rank is started by another program.
     *
     * @param by that program and its arguments
     */
    public List<HostProgram> start(List<String> by, Map<String, String> environment, String... arguments) {
        List<HostProgram> hosts = new ArrayList<>();
        try {
            Path rendezvous = Files.createTempDirectory(directory, "rendezvous");
            for (int rank = 0; rank < NODES.size(); rank++) {
                List<String> all = new ArrayList<>(List.of(arguments));
                all.addAll(List.of("--rank", Integer.toString(rank), "--ranks", "3"));
                all.addAll(List.of("--rendezvous", rendezvous.toString()));
                Map<String, String> variables = new HashMap<>(environment);
                variables.put("TRIGON_CONFIG", file.toString());
                variables.put("TRIGON_NODE", NODES.get(rank));
                hosts.add(new HostProgram(
                        rank == NODES.size() - 1 ? by : List.of(),
                        distribution,
                        directory.resolve(NODES.get(rank) + ".log"),
                        variables,
                        all.toArray(String[]::new)));
            }
            return hosts;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
