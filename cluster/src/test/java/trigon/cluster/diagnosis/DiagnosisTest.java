package trigon.cluster.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import trigon.cluster.json.Json;
import trigon.cluster.probe.LinkResult.Connection.Usual;
import trigon.cluster.probe.Observations;
import trigon.cluster.probe.Observations.Heard;

/** Faults planted into what an examination of a healthy triangle has seen. */
class DiagnosisTest {

    static Set<String> faults() {
        return PlantedFindings.codes();
    }

    private static Set<String> codes(Nodes nodes) {
        return Diagnosis.of(nodes.observations()).stream()
                .map(Finding::code)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"ab ac bc", "ab bc cd ad", "ab bc cd", "ab ac ad", "ab ac ad bc bd cd", "ab ab ac ac bc bc"})
    void healthyShapesHaveNoFindings(String cables) {
        assertThat(Diagnosis.of(Nodes.withCables(cables.split(" ", -1)).observations()))
                .isEmpty();
    }

    @Test
    void cablesWithoutAddressesWorkByTheirLinkLocalOnes() {
        Nodes nodes = Nodes.triangle();
        nodes.address("a", 0, "fe80::a/64");
        nodes.address("b", 0, "fe80::b/64");
        nodes.probes.keySet().removeIf(name -> name.contains("10.0.1."));

        assertThat(codes(nodes)).isEmpty();

        nodes.address("a", 0, "10.0.1.1/24");
        assertThat(codes(nodes)).as("one end alone has none").containsExactly("address-missing");
    }

    @ParameterizedTest
    @MethodSource("faults")
    void aFaultIsFoundAndNothingElse(String code) {
        Nodes nodes = Nodes.triangle();
        PlantedFindings.plant(code, nodes);

        assertThat(codes(nodes)).containsExactly(code);
        assertThat(Diagnosis.of(nodes.observations())).allSatisfy(finding -> {
            assertThat(finding.what()).isNotBlank();
            assertThat(finding.evidence()).isNotBlank();
            assertThat(finding.remedies()).isNotEmpty();
        });
    }

    @Test
    void whatKeepsNicsFromGpusMattersOnlyWhereItIsAskedFor() {
        Nodes nodes = Nodes.triangle();
        PlantedFindings.gpu(nodes, "auto", "DMA-BUF");
        assertThat(Diagnosis.of(nodes.observations())).as("all is well").isEmpty();

        PlantedFindings.way(nodes).put("distance", "SYS");
        assertThat(Diagnosis.of(nodes.observations()))
                .extracting(Finding::weight)
                .containsExactly(Finding.Weight.WARNING);

        nodes.node("a").put("gpuMemoryUse", "off");
        assertThat(Diagnosis.of(nodes.observations()))
                .extracting(Finding::code, Finding::weight)
                .containsExactly(tuple("gpu-far-from-nic", Finding.Weight.NOTE));

        nodes.node("a").put("architecture", "aarch64");
        assertThat(codes(nodes)).as("a Grace CPU is no obstacle").containsExactly("gpu-memory-possible");
    }

    /** Remedies for NVIDIA's driver would help nobody. */
    @Test
    void gpusOfAmdAreLeftToTheHost() {
        Nodes nodes = Nodes.triangle();
        PlantedFindings.gpu(nodes, "on", "no: ibv_reg_dmabuf_mr says EOPNOTSUPP");
        Nodes.list(nodes.node("a"), "gpus").getFirst().put("vendor", "AMD");

        assertThat(Diagnosis.of(nodes.observations()))
                .extracting(Finding::code, Finding::weight)
                .containsExactly(tuple("gpu-memory-unsupported", Finding.Weight.NOTE));
    }

    /** Programs of the machine have made these addresses, and need them. */
    @ParameterizedTest
    @ValueSource(strings = {"address-twice", "prefix-differs", "interfaces-in-one-subnet", "twins-in-one-subnet"})
    void noCommandTakesAnAddressFromABridgeOrFromUsb(String code) {
        for (String kind : List.of("bridge", "usb")) {
            Nodes nodes = Nodes.triangle();
            PlantedFindings.plant(code, nodes);
            nodes.facts.values().forEach(node -> Nodes.list(node, "interfaces").forEach(nic -> nic.put("kind", kind)));
            plantHellos(nodes);

            assertThat(codes(nodes)).containsExactly(code);
            assertThat(changes(nodes)).isEmpty();
        }
    }

    /** Of two ends with one address, the plain one changes. */
    @ParameterizedTest
    @ValueSource(strings = {"kind", "defaultRoutes", "loginAddress", "NCCL_SOCKET_IFNAME", "secondary"})
    void anAddressThatMayBeNeededStays(String reason) {
        Nodes nodes = Nodes.triangle();
        nodes.address("b", 0, "10.0.1.1/24");
        String name = String.valueOf(nodes.nic("b", 0).get("name"));
        switch (reason) {
            case "kind" -> nodes.nic("b", 0).put("kind", "bridge");
            case "defaultRoutes" -> nodes.node("b").put("defaultRoutes", List.of(name));
            case "loginAddress" -> nodes.node("b").put("loginAddress", "10.0.1.1");
            case "secondary" -> Nodes.texts(nodes.nic("b", 0), "addresses").add("10.0.1.99/24");
            default -> Nodes.object(nodes.node("b"), "environment").put(reason, name);
        }
        nodes.probes.keySet().removeIf(probe -> probe.contains("10.0.1."));

        assertThat(codes(nodes)).contains("address-twice");
        assertThat(changes(nodes))
                .containsExactly("a: ip addr del 10.0.1.1/24 dev if1a && ip addr add 10.0.1.2/24 dev if1a");
    }

    private static void plantHellos(Nodes nodes) {
        nodes.heard.clear();
        nodes.heard.addAll(Nodes.triangle().heard);
    }

    private static List<String> changes(Nodes nodes) {
        return Diagnosis.of(nodes.observations()).stream()
                .flatMap(finding -> finding.remedies().stream())
                .filter(remedy -> remedy.kind() == Finding.Kind.CHANGE)
                .map(remedy -> remedy.node() + ": " + remedy.text())
                .toList();
    }

    @Test
    void swappedPlugsAreOneFinding() {
        Nodes nodes = Nodes.triangle();
        nodes.heard.removeIf(each -> each.by().equals("a") || each.node().equals("a"));
        for (List<String> cable : List.of(List.of("if1a", "c", "if2c"), List.of("if2a", "b", "if1b"))) {
            nodes.heard.add(new Heard("a", cable.get(0), cable.get(1), cable.get(2)));
            nodes.heard.add(new Heard(cable.get(1), cable.get(2), "a", cable.get(0)));
        }
        assertThat(Diagnosis.of(nodes.observations())).singleElement().satisfies(finding -> {
            assertThat(finding.code()).isEqualTo("cable-elsewhere");
            assertThat(finding.where()).isEqualTo("a if1a, a if2a");
            assertThat(finding.remedies().getFirst().text()).startsWith("swap the plugs of these ports of a");
        });
    }

    /** A firewall is of a node, and closes all of its links. */
    @Test
    void aFirewallIsOneFindingWithARuleForEachPeer() {
        Nodes nodes = Nodes.triangle();
        nodes.probes.forEach((name, probe) -> {
            if (name.split(" ", -1)[1].equals("b")) {
                probe.put("tcp", "timeout");
                probe.remove("data");
            }
        });
        assertThat(Diagnosis.of(nodes.observations())).extracting(Finding::code).containsExactly("tcp-blocked");
        assertThat(changes(nodes))
                .containsExactly(
                        "b: iptables -I INPUT -p tcp -s 10.0.1.1 -j ACCEPT",
                        "b: iptables -I INPUT -p tcp -s 10.0.3.2 -j ACCEPT");
    }

    /** The kernel takes the first address of an interface, whichever of them was asked for. */
    @Test
    void anotherAddressOfTheInterfaceIsAsGood() {
        Nodes nodes = Nodes.triangle();
        Nodes.texts(nodes.nic("a", 0), "addresses").add("10.0.1.100/24");
        PlantedFindings.first(nodes).put("source", "10.0.1.100");

        assertThat(codes(nodes)).isEmpty();
    }

    /** Links that fail or were not tried, and nodes that nothing joins, whatever the reason. */
    @Test
    void nothingIsWrongIsNeverSaidWhileALinkFailsOrAPairHasNoWay() {
        long seed = System.nanoTime();
        System.err.println("seed " + seed);
        Random random = new Random(seed);
        List<String> shapes = List.of("ab", "ab ac bc", "ab bc cd ad", "ab bc cd", "ab ac ad", "ab ab ac ac bc bc");
        for (int i = 0; i < 300; i++) {
            Nodes nodes =
                    Nodes.withCables(shapes.get(random.nextInt(shapes.size())).split(" ", -1));
            if (random.nextInt(10) == 0) {
                PlantedFindings.withoutAddresses(nodes);
            }
            nodes.probes.values().removeIf(_ -> random.nextInt(4) == 0);
            for (Map<String, Object> probe : nodes.probes.values()) {
                if (random.nextInt(6) == 0) {
                    probe.put(
                            "tcp",
                            List.of("timeout", "refused", "unreachable", "other")
                                    .get(random.nextInt(4)));
                    probe.remove("data");
                }
            }
            if (random.nextInt(4) == 0) {
                nodes.heard.removeIf(_ -> random.nextBoolean());
            }
            Observations seen = nodes.observations();
            boolean right = seen.probes().stream().allMatch(probe -> probe.data() == Usual.RIGHT) && areJoined(seen);

            List<Finding> findings = Diagnosis.of(seen);
            assertThat(findings.stream().allMatch(each -> each.weight() == Finding.Weight.NOTE))
                    .as("of %s", seen)
                    .isEqualTo(right);
            assertThat(Diagnosis.isHealthy(findings))
                    .as("jobs run over %s", seen)
                    .isEqualTo(areJoined(seen) || areAtCablesWithoutAddresses(seen));
        }
    }

    /** All of them, and each has heard another one, or been heard by it, and so on. */
    private static boolean areAtCablesWithoutAddresses(Observations seen) {
        Set<String> reached = new TreeSet<>(List.of("a"));
        for (String _ : seen.facts().keySet()) {
            for (Heard each : seen.heard()) {
                if (reached.contains(each.by()) || reached.contains(each.node())) {
                    reached.addAll(List.of(each.by(), each.node()));
                }
            }
        }
        return seen.facts().values().stream()
                        .flatMap(facts -> facts.links().stream())
                        .allMatch(link -> link.address().isLinkLocal())
                && reached.equals(seen.facts().keySet());
    }

    /** Over another link, or a relay. */
    @Test
    void aLinkThatFailsIsAWarningWhileJobsRun() {
        Nodes nodes = Nodes.withCables("ab", "ab");
        PlantedFindings.plant("tcp-refused", nodes);
        assertThat(Diagnosis.of(nodes.observations()))
                .extracting(Finding::code, Finding::weight)
                .containsExactly(tuple("tcp-refused", Finding.Weight.WARNING));

        Nodes alone = Nodes.withCables("ab");
        PlantedFindings.plant("tcp-refused", alone);
        assertThat(Diagnosis.of(alone.observations()))
                .extracting(Finding::code, Finding::weight)
                .containsExactly(tuple("tcp-refused", Finding.Weight.ERROR));
    }

    /** Each has commands that outlast a restart, or says what to do for that. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "ufw       |                  | ufw allow from 10.0.1.1",
                "firewalld |                  | firewall-cmd --permanent --zone=trusted --add-source=10.0.1.1"
                        + " && firewall-cmd --reload",
                "nftables  | inet filter input | nft insert rule inet filter input ip saddr 10.0.1.1 accept",
                "iptables  | netfilter-persistent save | iptables -I INPUT -s 10.0.1.1 -j ACCEPT"
                        + " && netfilter-persistent save",
                "          |                  | iptables -I INPUT -s 10.0.1.1 -j ACCEPT"
            })
    void aFirewallIsOpenedByTheProgramThatManagesIt(String manager, String detail, String command) {
        Nodes nodes = Nodes.withCables("ab");
        nodes.node("b")
                .put(
                        "firewall",
                        Json.object(
                                "manager", Objects.requireNonNullElse(manager, ""),
                                "detail", Objects.requireNonNullElse(detail, "")));
        Map<String, Object> probe = PlantedFindings.first(nodes);
        probe.put("tcp", "unreachable");
        probe.put("udp", "no answer");
        probe.put("neighbour", "02:00:00:00:00:01");
        probe.remove("data");

        assertThat(Diagnosis.of(nodes.observations())).singleElement().satisfies(finding -> {
            assertThat(finding.code()).isEqualTo("tcp-refused");
            assertThat(finding.what()).isEqualTo("a firewall on b rejects TCP at 10.0.1.2");
        });
        assertThat(changes(nodes)).containsExactly("b: " + command);
    }

    /** The kernel has been asked for the route from each address. */
    @Test
    void oneSubnetWithARuleForEachAddressIsNoFault() {
        Nodes nodes = Nodes.triangle();
        PlantedFindings.plant("interfaces-in-one-subnet", nodes);
        nodes.node("a").put("interfacesToNeighbours", Json.object("10.0.1.1/24", "if1a", "10.0.1.7/24", "if2a"));

        assertThat(codes(nodes)).doesNotContain("interfaces-in-one-subnet");

        nodes.node("a").put("interfacesToNeighbours", Json.object("10.0.1.1/24", "if1a", "10.0.1.7/24", "if1a"));
        assertThat(codes(nodes)).contains("interfaces-in-one-subnet");
    }

    private static boolean areJoined(Observations seen) {
        Set<String> joined = new TreeSet<>(Set.of("a"));
        for (int round = 0; round < seen.facts().size(); round++) {
            for (Observations.Probe there : seen.probes()) {
                boolean back = seen.probes().stream()
                        .anyMatch(probe -> probe.from().equals(there.to())
                                && probe.to().equals(there.from())
                                && probe.data() == Usual.RIGHT);
                if (joined.contains(there.from()) && back && there.data() == Usual.RIGHT) {
                    joined.add(there.to());
                }
            }
        }
        return joined.equals(seen.facts().keySet());
    }

    @Test
    void aPairWithoutALinkIsJoinedByRelaysUnlessTheyAreOff() {
        Nodes nodes = Nodes.withCables("ab", "bc");
        assertThat(codes(nodes)).isEmpty();

        for (String node : List.of("a", "b", "c")) {
            Nodes.texts(nodes.node(node), "settings").add("relay: off (TRIGON_RELAY)");
        }
        assertThat(codes(nodes)).containsExactly("no-path");
    }

    @Test
    void overSeveralRelaysAPairIsJoinedWithoutAKey() {
        Nodes nodes = Nodes.withCables("ab", "bc", "cd");
        for (String node : List.of("a", "b", "c", "d")) {
            Nodes.texts(nodes.node(node), "settings").add("handshake.clusterKeyFile: none (default)");
        }

        assertThat(codes(nodes)).isEmpty();
    }

    /** As DGX Spark is set up with netplan, on three nodes with two cables each. */
    @Test
    void cablesInTheLinkLocalSubnetOfIpv4AreInOneSubnet() {
        Nodes nodes = Nodes.triangle();
        Map<String, String> addresses = new LinkedHashMap<>();
        for (String node : List.of("a", "b", "c")) {
            for (int nic = 0; nic < 2; nic++) {
                String before = Nodes.texts(nodes.nic(node, nic), "addresses").getFirst();
                String now = "169.254.28." + addresses.size();
                nodes.address(node, nic, now + "/16");
                addresses.put(before.replace("/24", ""), now);
            }
        }
        nodes.probes(probe -> {
            for (String end : List.of("from", "to", "source")) {
                probe.compute(end, (_, address) -> addresses.get(String.valueOf(address)));
            }
            probe.put("tcp", "timeout");
            probe.remove("data");
        });

        assertThat(codes(nodes)).containsExactly("interfaces-in-one-subnet");
    }

    /** Its name is all that launchers know; sysfs and NCCL know the other one. */
    @Test
    void anAlternativeNameIsNamedWithTheInterfaceThatHasIt() {
        Nodes nodes = Nodes.triangle();
        nodes.nic("a", 0).put("otherNames", List.of("enp73s0f0np0"));
        Nodes.object(nodes.node("a"), "environment").put("NCCL_SOCKET_IFNAME", "=enp73s0f0np0");

        assertThat(Diagnosis.of(nodes.observations()))
                .singleElement()
                .satisfies(finding -> assertThat(finding.what())
                        .contains("enp73s0f0np0 is another name of "
                                + nodes.nic("a", 0).get("name")));
    }

    /** No command takes the address away: the network is what is wrong. */
    @Test
    void containersOfTwoNodesWithOneAddressNeedTheHostsNetwork() {
        Nodes nodes = Nodes.triangle();
        nodes.address("c", 0, "10.0.1.1/24");
        for (Map.Entry<String, String> end : Map.of("a", "if1a", "c", "if2c").entrySet()) {
            nodes.node(end.getKey()).put("defaultRoutes", List.of(end.getValue()));
        }
        nodes.heard.clear();

        assertThat(Diagnosis.of(nodes.observations()))
                .filteredOn(finding -> finding.code().equals("container-network"))
                .singleElement()
                .satisfies(finding -> assertThat(finding.remedies()).allSatisfy(remedy -> {
                    assertThat(remedy.kind()).isEqualTo(Finding.Kind.ADVICE);
                    assertThat(remedy.text()).contains("--network=host");
                }));
    }

    @Test
    void twoFaultsAreBothFound() {
        long seed = System.nanoTime();
        System.err.println("seed " + seed);
        Random random = new Random(seed);
        List<String> ofNodes = List.of(
                "memlock-low",
                "unknown-variable",
                "half-duplex",
                "pcie-reduced",
                "tasks-few",
                "nccl-net-other",
                "bootstrap-interface",
                "clock",
                "version-differs",
                "cluster-file-differs");
        List<String> ofLinks = List.of(
                "data-wrong",
                "mtu",
                "udp-blocked",
                "roce-port-blocked",
                "slow",
                "tcp-refused",
                "tcp-blocked",
                "route-elsewhere",
                "node-silent",
                "address-twice",
                "no-common-subnet");
        for (int i = 0; i < 40; i++) {
            String one = ofNodes.get(random.nextInt(ofNodes.size()));
            String other = ofLinks.get(random.nextInt(ofLinks.size()));
            Nodes nodes = Nodes.triangle();
            PlantedFindings.plant(other, nodes);
            PlantedFindings.plant(one, nodes);
            assertThat(codes(nodes)).as("%s and %s", one, other).containsExactlyInAnyOrder(one, other);
        }
    }

    @Test
    void theHeaviestIsFirst() {
        Nodes nodes = Nodes.triangle();
        PlantedFindings.plant("nccl-ib-setting", nodes);
        PlantedFindings.plant("slow", nodes);
        PlantedFindings.plant("mtu", nodes);

        List<Finding> findings = Diagnosis.of(nodes.observations());

        assertThat(findings).extracting(Finding::code).containsExactly("mtu", "slow", "nccl-ib-setting");
        assertThat(faults()).hasSizeGreaterThanOrEqualTo(30);
    }
}
