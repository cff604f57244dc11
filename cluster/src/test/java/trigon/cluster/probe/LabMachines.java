package trigon.cluster.probe;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;

/** The three virtual machines of the lab that is up, each with two SoftRoCE devices: nodes a, b and c. */
final class LabMachines implements FaultyNodes, AutoCloseable {

    /** Their processors are emulated. */
    private static final Duration PATIENCE = Duration.ofMinutes(4);

    private final Path lab;
    private final SortedMap<String, NodeConnection> agents = new TreeMap<>();

    /** @param lab the script that runs commands in the machines */
    LabMachines(Path lab) throws IOException {
        this.lab = lab;
        for (String node : List.of("a", "b", "c")) {
            agents.put(node, AgentProcess.start(List.of(lab.toString(), "exec", "-i", "-t", "1200"), node, PATIENCE));
        }
    }

    @Override
    public List<NodeConnection> nodes() {
        return List.copyOf(agents.values());
    }

    @Override
    public NodeConnection node(String node) {
        return Objects.requireNonNull(agents.get(node));
    }

    @Override
    public void in(String node, String command) throws IOException {
        List<String> words = new ArrayList<>(List.of(lab.toString(), "exec", node));
        Stream.of(AgentProcess.known(command, node(node)).split(" ", -1)).forEach(words::add);
        var _ = Command.run(words);
    }

    @Override
    public void close() throws IOException {
        for (NodeConnection agent : agents.values()) {
            agent.close();
        }
    }
}
