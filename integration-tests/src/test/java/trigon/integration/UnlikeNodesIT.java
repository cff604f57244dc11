package trigon.integration;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Nodes of one job have unlike numbers of interfaces: NCCL decides on each node by itself what both ends have to agree
 * on, so Trigon must tell it the same on all of them. Nodes in network namespaces.
 */
class UnlikeNodesIT {

    @TempDir
    Path directory;

    private CableNamespaces network;

    @BeforeEach
    void makeNodes() {
        network = CableNamespaces.open();
        List.of("a", "b", "c", "elsewhere").forEach(network::node);
        network.cable("a", "to_b", "10.0.12.1/24", "b", "to_a", "10.0.12.2/24");
        network.cable("a", "to_c", "10.0.13.1/24", "c", "to_a", "10.0.13.3/24");
        network.cable("b", "to_c", "10.0.23.2/24", "c", "to_b", "10.0.23.3/24");
        network.cable("b", "mgmt0", "10.99.2.2/24", "elsewhere", "mgmt_b", "10.99.2.254/24");
        network.cable("c", "mgmt0", "10.99.3.3/24", "elsewhere", "mgmt_c", "10.99.3.254/24");
        network.cable("c", "wlan0", "192.168.86.3/24", "elsewhere", "wlan", "192.168.86.1/24");
        network.cable("c", "to_b_2", "10.1.23.3/24", "b", "to_c_2", "10.1.23.2/24");
    }

    @AfterEach
    void removeNodes() {
        if (network != null) {
            network.close();
        }
    }

    @Test
    void tellNcclTheSameAndShareTwoCables() throws Exception {
        Map<String, String> outputs = run("a", "b", "c");

        Map<String, List<String>> devices = new LinkedHashMap<>();
        outputs.forEach((node, output) -> devices.put(node, devices(output)));
        assertThat(devices.get("a")).as(outputs.get("a")).hasSize(1);
        assertThat(devices.get("b")).isEqualTo(devices.get("a"));
        assertThat(devices.get("c")).isEqualTo(devices.get("a"));
        // of two connections each way, each cable has one
        assertThat(outputs.get("b")).containsPattern("soft_to_c 10.*: [1-9][0-9]* messages");
        assertThat(outputs.get("b")).containsPattern("soft_to_c_2 10.*: [1-9][0-9]* messages");
        assertThat(outputs.get("c")).containsPattern("soft_wlan0 .*: 0 messages");
    }

    /** What the plugin says of its devices, but for the number by which processes of one node know theirs. */
    private static List<String> devices(String output) {
        return output.lines()
                .filter(line -> line.matches("rank \\d+: device \\d+: .*"))
                .map(line -> line.replaceFirst("rank \\d+: ", "").replaceFirst("guid 0x\\p{XDigit}+", "guid"))
                .toList();
    }

    /** What each rank has printed, after all of them came to a good end. */
    private Map<String, String> run(String... nodes) throws Exception {
        Path rendezvous = Files.createTempDirectory(directory, "rendezvous");
        List<HostProgram> hosts = new ArrayList<>();
        try {
            for (String node : nodes) {
                hosts.add(new HostProgram(
                        network.by(node),
                        HostProgram.distribution(),
                        directory.resolve(node + ".log"),
                        HostProgram.QUICK_START,
                        "--rank",
                        Integer.toString(hosts.size()),
                        "--ranks",
                        Integer.toString(nodes.length),
                        "--channels",
                        "2",
                        "--iterations",
                        "2",
                        "--rendezvous",
                        rendezvous.toString()));
            }
            List<Integer> statuses = hosts.stream().map(HostProgram::exitStatus).toList();
            Map<String, String> outputs = new LinkedHashMap<>();
            hosts.forEach(host -> outputs.put(nodes[outputs.size()], host.output()));
            assertThat(statuses).as(String.join("\n", outputs.values())).containsOnly(0);
            return outputs;
        } finally {
            hosts.forEach(HostProgram::close);
        }
    }
}
