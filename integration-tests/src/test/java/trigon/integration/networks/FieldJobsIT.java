package trigon.integration.networks;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import trigon.integration.testsupport.CableNamespaces;
import trigon.integration.testsupport.HostProgram;

/**
 * Jobs in networks that people have posted, with their numbers in {@code integration-tests/field-cases.md}. Nodes in
 * network namespaces.
 */
class FieldJobsIT {

    private static final String PATIENT = "version: 1\nhandshake: {timeout: 40s}\n";

    private static final String HASTY = "version: 1\nhandshake: {timeout: 3s}\n";

    /** Of a job while the address of an interface comes and goes. */
    private static final int STARTS = Integer.getInteger("trigon.setups", 1);

    private static final Pattern CONNECTED = Pattern.compile("receives from");

    @TempDir
    Path directory;

    private CableNamespaces network;

    @BeforeEach
    void makeNodes() {
        network = CableNamespaces.open();
        List.of("a", "b", "c", "d").forEach(network::node);
    }

    @AfterEach
    void removeNodes() {
        if (network != null) {
            network.close();
        }
    }

    /** Case 01: the kernel of each node sends to all of a cable's other end over one function. */
    @Test
    @Tag("long")
    void bothFunctionsOfAPortInOneSubnetWork() throws Exception {
        twins();

        List<String> outputs = run(Map.of(), "ring", "a", "b", "c");

        assertThat(outputs).allSatisfy(output -> assertThat(output).contains("are in one subnet"));
    }

    /** Case 01b. */
    @Test
    @Tag("long")
    void bothFunctionsOfAPortInOneSubnetWorkWithoutIpv6() throws Exception {
        for (String node : List.of("a", "b", "c")) {
            network.inside(node, "sysctl -q -w net.ipv6.conf.default.disable_ipv6=1");
        }
        twins();

        List<String> outputs = run(Map.of(), "ring", "a", "b", "c");

        assertThat(outputs).allSatisfy(output -> assertThat(output).contains("are in one subnet"));
    }

    private void twins() {
        network.wire("a enp1s0f0np0", "a enP2p1s0f0np0", "b enp1s0f1np1", "b enP2p1s0f1np1");
        network.wire("b enp1s0f0np0", "b enP2p1s0f0np0", "c enp1s0f1np1", "c enP2p1s0f1np1");
        network.wire("c enp1s0f0np0", "c enP2p1s0f0np0", "a enp1s0f1np1", "a enP2p1s0f1np1");
        network.addresses("a enp1s0f0np0 192.168.0.1/24", "a enP2p1s0f0np0 192.168.0.2/24");
        network.addresses("b enp1s0f1np1 192.168.0.3/24", "b enP2p1s0f1np1 192.168.0.4/24");
        network.addresses("b enp1s0f0np0 192.168.2.1/24", "b enP2p1s0f0np0 192.168.2.2/24");
        network.addresses("c enp1s0f1np1 192.168.2.3/24", "c enP2p1s0f1np1 192.168.2.4/24");
        network.addresses("c enp1s0f0np0 192.168.1.3/24", "c enP2p1s0f0np0 192.168.1.4/24");
        network.addresses("a enp1s0f1np1 192.168.1.1/24", "a enP2p1s0f1np1 192.168.1.2/24");
    }

    /** Case 09. */
    @Test
    void twoNetworksInOneSubnetWork() throws Exception {
        network.wire("a eno1", "b eno1");
        network.wire("a enp37s0f0", "b enp37s0f0");
        network.addresses("a eno1 192.168.3.8/20", "a enp37s0f0 192.168.2.8/20");
        network.addresses("b enp37s0f0 192.168.2.9/20", "b eno1 192.168.3.9/20");

        run(Map.of(), "ring", "a", "b");
    }

    /** Case 12. */
    @Test
    @Tag("long")
    void functionsWithoutAddressesAndAnExclusionAreNoMatter() throws Exception {
        network.wire("a enp90s0np0", "b enp90s0np0");
        network.addresses("a enp90s0np0 10.168.192.89/24", "b enp90s0np0 10.168.192.90/24");
        for (String nic : List.of("enp220s0f0", "enp90s0v0", "cilium_host")) {
            network.wire("a " + nic, "c a" + nic);
            network.wire("b " + nic, "d b" + nic);
        }
        network.addresses("a cilium_host 10.0.21.95/32", "b cilium_host 10.0.22.17/32");

        assertThat(run(Map.of("NCCL_SOCKET_IFNAME", "^ibs,ibp,lo,docker,veth,cilium,lxc"), "ring", "a", "b"))
                .allSatisfy(output -> assertThat(output).contains("via enp90s0np0 10.168.192."));
    }

    /** Case 15: diagonals by routes of the kernel, through neighbours. */
    @Test
    @Tag("long")
    void aRingOfFourWithForwardingNeedsNoRelay() throws Exception {
        List<String> nodes = List.of("a", "b", "c", "d");
        List<String> subnets = List.of("10.100.128", "10.100.134", "10.100.136", "10.100.132");
        for (int i = 0; i < nodes.size(); i++) {
            String from = nodes.get(i);
            String to = nodes.get((i + 1) % nodes.size());
            network.wire(from + " enp1s0f1np1", from + " enP2p1s0f1np1", to + " enp1s0f0np0", to + " enP2p1s0f0np0");
            network.addresses(
                    "%s enp1s0f1np1 %s.0/31".formatted(from, subnets.get(i)),
                    "%s enP2p1s0f1np1 %s.128/31".formatted(from, subnets.get(i)),
                    "%s enp1s0f0np0 %s.1/31".formatted(to, subnets.get(i)),
                    "%s enP2p1s0f0np0 %s.129/31".formatted(to, subnets.get(i)));
            network.inside(from, "sysctl -q -w net.ipv4.ip_forward=1");
        }
        network.inside("a", "ip route add 10.100.134.0/24 via 10.100.128.1");
        network.inside("a", "ip route add 10.100.136.0/24 via 10.100.132.0");
        network.inside("c", "ip route add 10.100.128.0/24 via 10.100.134.0");
        network.inside("c", "ip route add 10.100.132.0/24 via 10.100.136.1");
        network.inside("b", "ip route add 10.100.136.0/24 via 10.100.134.1");
        network.inside("b", "ip route add 10.100.132.0/24 via 10.100.128.0");
        network.inside("d", "ip route add 10.100.128.0/24 via 10.100.132.1");
        network.inside("d", "ip route add 10.100.134.0/24 via 10.100.136.0");

        assertThat(run(Map.of(), "all-to-all", "a", "b", "c", "d"))
                .allSatisfy(output -> assertThat(output).doesNotContain("relayed by"));
    }

    /** Case 18. */
    @Test
    @Tag("long")
    void childrenOfVlansInDifferentSubnetsAreReachedByTheKernelsRoutes() throws Exception {
        network.wire("a ens5f0.3003", "d gwa");
        network.wire("b ens5f1.3003", "d gwb");
        network.wire("a ens5f0", "c exa");
        network.wire("b ens5f1", "c exb");
        network.addresses("a ens5f0.3003 10.1.118.3/24", "b ens5f1.3003 10.1.102.5/24");
        network.addresses("d gwa 10.1.118.1/24", "d gwb 10.1.102.1/24");
        network.inside("d", "sysctl -q -w net.ipv4.ip_forward=1");
        network.inside("a", "ip route add default via 10.1.118.1");
        network.inside("b", "ip route add default via 10.1.102.1");

        assertThat(run(Map.of(), "ring", "a", "b").getFirst()).contains("10.1.102.5 via ens5f0.3003");
    }

    /** Case 28: the middle ones have two interfaces in one subnet, and those at the ends do not know that. */
    @Test
    @Tag("long")
    void aLineOfFourByLinkLocalAddressesIsRelayed() throws Exception {
        network.wire("a thunderbolt0", "b thunderbolt0");
        network.wire("b thunderbolt1", "c thunderbolt0");
        network.wire("c thunderbolt1", "d thunderbolt0");
        network.addresses("a thunderbolt0 169.254.105.6/16", "b thunderbolt0 169.254.12.90/16");
        network.addresses("b thunderbolt1 169.254.201.4/16", "c thunderbolt0 169.254.77.31/16");
        network.addresses("c thunderbolt1 169.254.140.9/16", "d thunderbolt0 169.254.33.150/16");
        List.of("a", "b", "c", "d").forEach(network::awaitLinkLocal);
        Path key = Files.writeString(directory.resolve("key"), "0123456789abcdef".repeat(4));
        Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-------"));

        List<String> outputs = run(Map.of("TRIGON_CLUSTER_KEY_FILE", key.toString()), "ring", "a", "b", "c", "d");

        assertThat(outputs.get(1)).containsPattern("sends to .* via thunderbolt1 fe80:.* link-local");
        assertThat(outputs.get(2)).containsPattern("sends to .* via thunderbolt1 fe80:.* link-local");
        assertThat(outputs.get(3)).containsPattern("relayed by \\S+, \\S+ over TCP");
    }

    /** Case 33: each in the network that its host gives all containers. */
    @Test
    void containersWithOneAddressFailAndSaySo() throws Exception {
        network.wire("a eth0", "c veth0");
        network.wire("b eth0", "d veth0");
        for (String node : List.of("a", "b")) {
            network.inside(node, "sysctl -q -w net.ipv6.conf.eth0.disable_ipv6=1");
            network.addresses(node + " eth0 172.17.0.2/16");
        }
        List<HostProgram> hosts = start(Map.of(), List.of("a", "b"), "--test", "ring", "--iterations", "2");
        try {
            assertThat(hosts).extracting(HostProgram::exitStatus).doesNotContain(0);
            assertThat(hosts.getFirst().output())
                    .contains("The peer is on another node and has the same address, 172.17.0.2")
                    .contains("--network=host");
        } finally {
            hosts.forEach(HostProgram::close);
        }
    }

    /** A cable, and Wi-Fi that both nodes share and that calls itself as fast. By addresses it would go first. */
    private void wifiAndCable() {
        network.wire("a wlP9s9", "b wlP9s9", "c wlP9s9");
        network.wire("a enp1s0f0np0", "b enp1s0f0np0");
        network.addresses("a wlP9s9 10.1.86.21/24", "b wlP9s9 10.1.86.22/24");
        network.addresses("a enp1s0f0np0 10.20.3.1/24", "b enp1s0f0np0 10.20.3.2/24");
    }

    /** Case 11. */
    @Test
    @Tag("long")
    void wiFiThatIsLostUnderAJobChangesNothing() throws Exception {
        wifiAndCable();
        Path until = directory.resolve("until");
        List<HostProgram> hosts = start(
                Map.of(),
                List.of("a", "b"),
                "--channels",
                "2",
                "--iterations",
                "1000000",
                "--until",
                until.toString(),
                "--verbose");
        try {
            hosts.forEach(host -> host.awaitOutput(CONNECTED));
            network.set("a", "wlP9s9", false);
            hosts.getFirst().awaitOutput("its interface is down");
            network.set("a", "wlP9s9", true);
            hosts.getFirst().awaitOutput("its interface wlP9s9 is up again");
            Files.createFile(until);

            assertThat(outputs(hosts))
                    .allSatisfy(output -> assertThat(output)
                            .containsPattern("wlP9s9 .*: 0 messages")
                            .containsPattern("enp1s0f0np0 .*: [1-9][0-9]* messages")
                            .doesNotContain("goes on over"));
        } finally {
            hosts.forEach(HostProgram::close);
        }
    }

    /** Case 11. */
    @Test
    @Tag("long")
    void wiFiThatIsAwayWhenAJobStartsChangesNothing() throws Exception {
        wifiAndCable();
        network.set("a", "wlP9s9", false);

        assertThat(run(Map.of(), "ring", "a", "b"))
                .allSatisfy(output -> assertThat(output).contains("via enp1s0f0np0 10.20.3."));
    }

    /** Case 24: many times in each start. */
    @Test
    @Tag("long")
    void anAddressMayComeAndGoWhileAJobStarts() throws Exception {
        wifiAndCable();
        String address = "10.1.86.21/24 dev wlP9s9";
        List<String> flapping = new ArrayList<>(network.by("a"));
        // a pause between the two, so that each is met by some part of a start
        flapping.addAll(List.of("sh", "-c", """
                while ip addr del %1$s && sleep 0.05 && ip addr add %1$s && sleep 0.05; do :; done
                """.formatted(address)));
        Process flaps = new ProcessBuilder(flapping).inheritIO().start();
        try {
            for (int i = 0; i < STARTS; i++) {
                assertThat(run(Map.of(), "ring", "a", "b"))
                        .as("start %d", i)
                        .allSatisfy(output -> assertThat(output).contains("via enp1s0f0np0 10.20.3."));
            }
            assertThat(flaps.isAlive()).as("it came and went all the time").isTrue();
        } finally {
            flaps.destroy();
            flaps.waitFor();
        }
    }

    /** Case 26: the interface comes back as another one, with another number. */
    @Test
    @Tag("long")
    void aFunctionThatIsPluggedOutAndInUnderAJobIsNoMatter() throws Exception {
        network.wire("a enp1s0f0np0", "b enp1s0f0np0");
        network.wire("a enp1s0f1np1", "b enp1s0f1np1");
        network.addresses("a enp1s0f0np0 10.20.3.1/24", "b enp1s0f0np0 10.20.3.2/24");
        network.addresses("a enp1s0f1np1 10.20.4.1/24", "b enp1s0f1np1 10.20.4.2/24");
        Path until = directory.resolve("until");
        List<HostProgram> hosts = start(
                Map.of("TRIGON_FAILOVER", "on"),
                List.of("a", "b"),
                "--channels",
                "2",
                "--iterations",
                "1000000",
                "--until",
                until.toString());
        try {
            hosts.forEach(host -> host.awaitOutput(CONNECTED));
            network.inside("a", "ip link del enp1s0f0np0");
            hosts.getFirst().awaitOutput("goes on over");
            network.wire("a enp1s0f0np0", "b enp1s0f0np0");
            network.addresses("a enp1s0f0np0 10.20.3.1/24", "b enp1s0f0np0 10.20.3.2/24");
            hosts.getFirst().awaitOutput("its interface enp1s0f0np0 is up again");
            Files.createFile(until);

            assertThat(outputs(hosts)).hasSize(2);
        } finally {
            hosts.forEach(HostProgram::close);
        }
    }

    /** Cases 10 and 23: {@code trigon env} says so, before there is a job. */
    @Test
    @Tag("long")
    void settingsThatNameWhatIsNotThereAreSaid() throws Exception {
        network.wire("a enP7s7", "b enP7s7");
        network.inside("a", "ip address add 10.9.9.1/24 dev enP7s7");
        Path file = Files.writeString(directory.resolve("nccl.conf"), """
                NCCL_GRAPH_FILE=/opt/other/graph.xml
                NCCL_TUNER_PLUGIN=/opt/other/lib/libnccl-other-tuner.so
                NCCL_HOSTID=abc
                NCCL_SOCKET_IFNAME=enP7
                """);
        List<String> command = new ArrayList<>(network.by("a"));
        command.addAll(List.of(HostProgram.distribution().resolve("bin/trigon").toString(), "env"));
        Path errors = directory.resolve("errors");
        ProcessBuilder builder = new ProcessBuilder(command)
                .redirectOutput(directory.resolve("exports").toFile())
                .redirectError(errors.toFile());
        builder.environment().keySet().removeIf(name -> name.startsWith("NCCL_"));
        builder.environment()
                .putAll(Map.of(
                        "GLOO_SOCKET_IFNAME", "eth0",
                        "TP_SOCKET_IFNAME", "eth1,enP7s7",
                        "NCCL_SOCKET_IFNAME", "=enP7",
                        "NCCL_CONF_FILE", file.toString()));

        assertThat(builder.start().waitFor()).isZero();
        assertThat(errors)
                .content()
                .contains("GLOO_SOCKET_IFNAME=eth0 in the environment: Gloo is set to use eth0, but no such interface")
                .contains("NCCL_SOCKET_IFNAME==enP7 in the environment: NCCL's bootstrap is set to use =enP7, but no")
                .contains("NCCL_GRAPH_FILE=/opt/other/graph.xml in " + file, "NCCL_TUNER_PLUGIN=", "NCCL_HOSTID=abc")
                .doesNotContain("TP_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME=enP7 ");
    }

    /** Case 42: with a rule and a table for each source address, both interfaces of a subnet are used. */
    @Test
    @Tag("long")
    void oneSubnetWithARuleForEachAddressNeedsNoWarning() throws Exception {
        withoutIpv6("a", "b");
        network.wire("a eth1", "a eth2", "b eth1", "b eth2");
        for (int node = 1; node <= 2; node++) {
            String name = node == 1 ? "a" : "b";
            for (int port = 1; port <= 2; port++) {
                String address = "10.0.0." + node + port;
                network.inside(name, "sysctl -q -w net.ipv4.conf.eth%d.arp_ignore=2".formatted(port));
                network.inside(name, "sysctl -q -w net.ipv4.conf.eth%d.arp_announce=2".formatted(port));
                network.addresses("%s eth%d %s/24".formatted(name, port, address));
                network.inside(name, "ip route add 10.0.0.0/24 dev eth%d src %s table 10%1$d".formatted(port, address));
                network.inside(name, "ip rule add from %s lookup 10%d".formatted(address, port));
            }
        }

        assertThat(run(Map.of(), "ring", "a", "b"))
                .allSatisfy(output -> assertThat(output).doesNotContain("are in one subnet"));
    }

    /** Case 34: the hardware of the peer answers. */
    @Test
    void aFirewallThatRejectsIsNamedAtOnce() throws Exception {
        network.wire("a enp1s0f0np0", "b enp1s0f0np0");
        network.addresses("a enp1s0f0np0 10.20.3.1/24", "b enp1s0f0np0 10.20.3.2/24");
        network.inside("b", "iptables -w -A INPUT -m conntrack --ctstate ESTABLISHED,RELATED -j ACCEPT");
        network.inside("b", "iptables -w -A INPUT -p tcp -j REJECT --reject-with icmp-admin-prohibited");

        assertThat(failure("a", "b")).contains("a firewall rejects it: the hardware of 10.20.3.2 answers");
    }

    /** A relay listens there as well, beside the handshake and the data. */
    @Test
    void aFirewallThatLetsARangeOfPortsThroughIsNoMatter() throws Exception {
        network.wire("a enp1s0f0np0", "b enp1s0f0np0");
        network.wire("b enp1s0f1np1", "c enp1s0f1np1");
        network.addresses("a enp1s0f0np0 10.20.3.1/24", "b enp1s0f0np0 10.20.3.2/24");
        network.addresses("b enp1s0f1np1 10.20.4.2/24", "c enp1s0f1np1 10.20.4.3/24");
        for (String node : List.of("a", "b", "c")) {
            network.inside(node, "iptables -w -A INPUT -m conntrack --ctstate ESTABLISHED,RELATED -j ACCEPT");
            network.inside(node, "iptables -w -A INPUT -p tcp --dport 30000:30002 -j ACCEPT");
            network.inside(node, "iptables -w -A INPUT -p tcp -j REJECT --reject-with tcp-reset");
        }

        List<String> outputs = run(Map.of("TRIGON_PORTS", "30000-30002"), "ring", "a", "b", "c");

        assertThat(String.join("\n", outputs)).contains("relayed by");
    }

    /** Case 31: a rule of an overlay goes before the main table. */
    @Test
    @Tag("long")
    void theInterfaceThatTakesThePacketsOfACableIsNamed() throws Exception {
        withoutIpv6("a", "b");
        network.wire("a enp1s0f0np0", "b enp1s0f0np0");
        network.addresses("a enp1s0f0np0 192.168.177.11/24", "b enp1s0f0np0 192.168.177.12/24");
        for (String node : List.of("a", "b")) {
            network.wire(node + " tailscale0", "c t" + node);
            network.addresses(node + " tailscale0 100.90.1." + (node.equals("a") ? 1 : 2) + "/32");
            network.inside(node, "ip route add 192.168.177.0/24 dev tailscale0 table 52");
            network.inside(node, "ip rule add pref 5270 lookup 52");
        }

        assertThat(failure("a", "b"))
                .contains("from 192.168.177.11 through tailscale0 (table 52, by rule 5270), not through enp1s0f0np0");
    }

    private void withoutIpv6(String... nodes) {
        for (String node : nodes) {
            network.inside(node, "sysctl -q -w net.ipv6.conf.default.disable_ipv6=1");
        }
    }

    /** What the first rank of a job has printed that does not come up. */
    private String failure(String... nodes) throws IOException {
        Path config = Files.writeString(directory.resolve("hasty.yaml"), HASTY);
        List<HostProgram> hosts = start(
                Map.of("TRIGON_CONFIG", config.toString()), List.of(nodes), "--test", "ring", "--iterations", "2");
        try {
            assertThat(hosts.getFirst().exitStatus())
                    .as(hosts.getFirst().output())
                    .isNotZero();
            return hosts.getFirst().output();
        } finally {
            hosts.forEach(HostProgram::close);
        }
    }

    /** What each rank has printed, after all of them came to a good end. */
    private List<String> run(Map<String, String> environment, String test, String... nodes) throws IOException {
        List.of(nodes).forEach(node -> network.inside(node, "ip neigh flush all"));
        List<HostProgram> hosts =
                start(environment, List.of(nodes), "--test", test, "--channels", "2", "--iterations", "2", "--verbose");
        try {
            return outputs(hosts);
        } finally {
            hosts.forEach(HostProgram::close);
        }
    }

    private static List<String> outputs(List<HostProgram> hosts) {
        List<Integer> statuses = hosts.stream().map(HostProgram::exitStatus).toList();
        List<String> outputs = hosts.stream().map(HostProgram::output).toList();
        assertThat(statuses).as(String.join("\n", outputs)).containsOnly(0);
        return outputs;
    }

    private List<HostProgram> start(Map<String, String> environment, List<String> nodes, String... arguments)
            throws IOException {
        Path config = Files.writeString(directory.resolve("patient.yaml"), PATIENT);
        Path rendezvous = Files.createTempDirectory(directory, "rendezvous");
        Map<String, String> all = new HashMap<>(HostProgram.QUICK_START);
        all.put("TRIGON_CONFIG", config.toString());
        all.putAll(environment);
        List<HostProgram> hosts = new ArrayList<>();
        for (String node : nodes) {
            List<String> more = new ArrayList<>(List.of(arguments));
            more.addAll(List.of("--rank", "" + hosts.size(), "--ranks", "" + nodes.size(), "--timeout", "100"));
            more.addAll(List.of("--rendezvous", rendezvous.toString()));
            hosts.add(new HostProgram(
                    by(node),
                    HostProgram.distribution(),
                    directory.resolve(node + ".log"),
                    all,
                    more.toArray(String[]::new)));
        }
        return hosts;
    }

    /** With mounts of its own, the kernel says there that an interface whose name begins as Wi-Fi's is Wi-Fi. */
    private List<String> by(String node) throws IOException {
        Path uevent = Files.writeString(directory.resolve("uevent"), "DEVTYPE=wlan\n");
        List<String> command = new ArrayList<>(network.by(node));
        command.addAll(List.of("sh", "-c", """
                for nic in /sys/class/net/wl*; do [ ! -e $nic ] || mount --bind %s $nic/uevent; done; exec "$@"
                """.formatted(uevent), "sh"));
        return command;
    }
}
