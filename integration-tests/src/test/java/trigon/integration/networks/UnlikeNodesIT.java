package trigon.integration.networks;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import trigon.integration.testsupport.CableNamespaces;
import trigon.integration.testsupport.HostProgram;

/**
 * Nodes of one job have unlike interfaces: NCCL decides on each node by itself what both ends have to agree on, so
 * Trigon must tell it the same on all of them. And networks that are worse than cables are left to others. Nodes in
 * network namespaces.
 */
@Tag("long")
class UnlikeNodesIT {

    @TempDir
    Path directory;

    private CableNamespaces network;

    @BeforeEach
    void makeNodes() {
        network = CableNamespaces.open();
        List.of("a", "b", "c", "elsewhere").forEach(network::node);
    }

    private void cableTriangle() {
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
        cableTriangle();

        Map<String, String> outputs = run(Map.of(), "");

        Map<String, List<String>> devices = new LinkedHashMap<>();
        outputs.forEach((node, output) -> devices.put(node, devices(output)));
        assertThat(devices.get("a")).as(outputs.get("a")).hasSize(1);
        assertThat(devices.get("b")).isEqualTo(devices.get("a"));
        assertThat(devices.get("c")).isEqualTo(devices.get("a"));
        // of two connections each way, each cable has one
        assertThat(outputs.get("b")).containsPattern("to_c 10.0.*: [1-9][0-9]* messages");
        assertThat(outputs.get("b")).containsPattern("to_c_2 10.*: [1-9][0-9]* messages");
        assertThat(outputs.get("c")).containsPattern("wlan0 .*: 0 messages");
    }

    /** On a line, the ends reach each other by the network that all share, or by the cables and the node in between. */
    @Test
    void aNetworkOfATenthOfTheCablesSpeedComesAfterARelay() throws Exception {
        cableLine();

        expectRelay(run(Map.of(), "speed 1000"));
    }

    @Test
    void theNetworkOfTheBootstrapComesAfterARelay() throws Exception {
        cableLine();

        expectRelay(run(Map.of("NCCL_SOCKET_IFNAME", "mgmt0"), ""));
    }

    /** It keeps its address, and stands for the speed that it would have. */
    @Test
    void aCableThatIsDownHidesNoRelay() throws Exception {
        cableLine();
        network.cable("a", "to_c", "10.0.13.1/24", "c", "to_a", "10.0.13.3/24");
        network.inside("a", "ip link set to_c down");
        network.inside("c", "ip link set to_a down");

        expectRelay(run(Map.of("NCCL_SOCKET_IFNAME", "mgmt0"), ""));
    }

    @Test
    void wiFiComesAfterARelay() throws Exception {
        cableLine();

        expectRelay(run(Map.of(), "uevent DEVTYPE=wlan"));
    }

    @Test
    void wiFiIsUsedWhereNothingElseReachesThePeer() throws Exception {
        route("a", 1);
        route("b", 2);
        route("c", 3);

        assertThat(run(Map.of(), "uevent DEVTYPE=wlan"))
                .allSatisfy((_, output) -> assertThat(output).containsPattern("sends to .* via mgmt0"));
    }

    private void cableLine() {
        network.cable("a", "to_b", "10.0.12.1/24", "b", "to_a", "10.0.12.2/24");
        network.cable("b", "to_c", "10.0.23.2/24", "c", "to_b", "10.0.23.3/24");
        route("a", 1);
        route("b", 2);
        route("c", 3);
    }

    /** A network that all nodes reach each other by, with a router in between. */
    private void route(String node, int number) {
        String subnet = "10.99." + number;
        network.cable(node, "mgmt0", subnet + ".1/24", "elsewhere", "mgmt_" + node, subnet + ".254/24");
        network.inside("elsewhere", "sysctl -q -w net.ipv4.ip_forward=1");
        network.inside(node, "ip route add 10.99.0.0/16 via " + subnet + ".254 dev mgmt0");
    }

    private static void expectRelay(Map<String, String> outputs) {
        assertThat(outputs.get("c")).containsPattern("sends to .* via to_b .* relayed by ");
        assertThat(outputs).allSatisfy((_, output) -> assertThat(output).containsPattern("mgmt0 .*: 0 messages"));
    }

    /** What the plugin says of its devices, but for the number by which processes of one node know theirs. */
    private static List<String> devices(String output) {
        return output.lines()
                .filter(line -> line.matches("rank \\d+: device \\d+: .*"))
                .map(line -> line.replaceFirst("rank \\d+: ", "").replaceFirst("guid 0x\\p{XDigit}+", "guid"))
                .toList();
    }

    /**
     * What each rank has printed, after all of them came to a good end.
     *
     * @param said what the kernel is to say of mgmt0: a file below /sys, and its text; or nothing
     */
    private Map<String, String> run(Map<String, String> environment, String said) throws Exception {
        List<String> nodes = List.of("a", "b", "c");
        Map<String, String> all = new HashMap<>(HostProgram.QUICK_START);
        all.putAll(environment);
        Path rendezvous = Files.createTempDirectory(directory, "rendezvous");
        List<HostProgram> hosts = new ArrayList<>();
        try {
            for (String node : nodes) {
                hosts.add(new HostProgram(
                        by(node, said),
                        HostProgram.distribution(),
                        directory.resolve(node + ".log"),
                        all,
                        "--rank",
                        Integer.toString(hosts.size()),
                        "--ranks",
                        Integer.toString(nodes.size()),
                        "--verbose",
                        "--channels",
                        "2",
                        "--iterations",
                        "2",
                        "--rendezvous",
                        rendezvous.toString()));
            }
            List<Integer> statuses = hosts.stream().map(HostProgram::exitStatus).toList();
            Map<String, String> outputs = new LinkedHashMap<>();
            hosts.forEach(host -> outputs.put(nodes.get(outputs.size()), host.output()));
            assertThat(statuses).as(String.join("\n", outputs.values())).containsOnly(0);
            return outputs;
        } finally {
            hosts.forEach(HostProgram::close);
        }
    }

    /** The namespace has mounts of its own, so that another file can be seen in place of the kernel's. */
    private List<String> by(String node, String said) throws IOException {
        List<String> command = new ArrayList<>(network.by(node));
        if (!said.isEmpty()) {
            String[] fileAndText = said.split(" ", 2);
            Path text = Files.writeString(directory.resolve(fileAndText[0]), fileAndText[1] + "\n");
            String target = "/sys/class/net/mgmt0/" + fileAndText[0];
            command.addAll(List.of("sh", "-c", "mount --bind " + text + " " + target + " && exec \"$@\"", "sh"));
        }
        return command;
    }
}
