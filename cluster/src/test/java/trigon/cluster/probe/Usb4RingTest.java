package trigon.cluster.probe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import trigon.cluster.diagnosis.Diagnosis;
import trigon.cluster.diagnosis.Finding;
import trigon.cluster.json.Json;
import trigon.cluster.probe.Observations.Probe;
import trigon.cluster.rdma.Transfer;

/**
 * Case 28b of {@code integration-tests/field-cases.md}: four machines in a ring of USB4 cables, which their kernels
 * show as such, with RDMA over the cables or without.
 */
@Timeout(240)
class Usb4RingTest {

    private static final List<String> NODES = List.of("a", "b", "c", "d");

    /** Findings about the machines of the test themselves, whatever their links are. */
    private static final Set<String> USUAL =
            Set.of("open-files-low", "shared-memory-small", "tasks-few", "memlock-low", "host-name-loopback");

    private static LinkNamespaces lab;

    private final Map<String, Map<String, Object>> files = new HashMap<>();

    @BeforeAll
    static void build() throws IOException {
        assumeTrue(LinkNamespaces.areThere(), "network namespaces need root");
        lab = new LinkNamespaces(NODES.toArray(String[]::new));
    }

    @AfterAll
    static void tearDown() throws IOException {
        if (lab != null) {
            lab.close();
        }
    }

    @BeforeEach
    void plugIn() throws IOException {
        for (int i = 0; i < NODES.size(); i++) {
            String from = NODES.get(i);
            String to = NODES.get((i + 1) % NODES.size());
            lab.wire(from + " thunderbolt1", to + " thunderbolt0");
            lab.in(from, "ip link set dev thunderbolt1 mtu 65520");
            lab.in(to, "ip link set dev thunderbolt0 mtu 65520");
            cable(from, "0-3", to, "thunderbolt1");
            cable(to, "0-1", from, "thunderbolt0");
        }
    }

    @AfterEach
    void renew() throws IOException {
        lab.renew();
    }

    /** Adds the kernel's description, in sysfs, of a USB4 cable to another machine. */
    private void cable(String node, String device, String peer, String nic) {
        Map<String, Object> of = files.computeIfAbsent(node, _ -> new HashMap<>());
        String machine = "sys/bus/thunderbolt/devices/" + device + "/";
        of.put(machine + "device_name", peer);
        of.put(machine + "rx_speed", "20.0 Gb/s");
        of.put(machine + "rx_lanes", "2");
        of.put(machine + device + ".0/net/" + nic + "/mtu", "65520");
    }

    /** The same of a device that another module has made of the controller. */
    private void rdma(String node, String device, String nic) {
        Map<String, Object> of = files.computeIfAbsent(node, _ -> new HashMap<>());
        String port = "sys/class/infiniband/" + device + "/ports/1/";
        of.put("sys/class/infiniband/" + device + "/device/driver", "-> drivers/thunderbolt");
        of.put(port + "state", "4: ACTIVE");
        of.put(port + "link_layer", "Ethernet");
        of.put("dev/infiniband/uverbs0", "");
        if (!nic.isEmpty()) {
            of.put(port + "gids/0", "0000:0000:0000:0000:0000:ffff:0a00:0101");
            of.put(port + "gid_attrs/types/0", "RoCE v2");
            of.put(port + "gid_attrs/ndevs/0", nic);
        }
    }

    private void addresses() throws IOException {
        for (int i = 0; i < NODES.size(); i++) {
            lab.in(NODES.get(i), "ip addr add 10.0.%d.1/30 dev thunderbolt1".formatted(i));
            lab.in(NODES.get((i + 1) % NODES.size()), "ip addr add 10.0.%d.2/30 dev thunderbolt0".formatted(i));
        }
    }

    private Observations examined(String rdma) throws IOException {
        lab.awaitCables();
        for (String node : NODES) {
            var _ = lab.node(node)
                    .ask(Json.object("do", "pretend", "rdma", rdma, "files", files.getOrDefault(node, Map.of())));
        }
        return PlantedFault.examined(lab, NODES.size(), false);
    }

    private static List<Finding> findings(Observations seen) {
        return Diagnosis.of(seen).stream()
                .filter(finding -> !USUAL.contains(finding.code()))
                .toList();
    }

    @Test
    void cablesWithoutAddressesWork() throws IOException {
        List<Finding> findings = findings(examined(""));

        assertThat(findings).as(findings::toString).extracting(Finding::code).containsExactly("no-addresses");
        assertThat(Diagnosis.isHealthy(findings)).as(findings::toString).isTrue();
    }

    /** The doctor's transfer decides on RDMA over USB4 as on any other. */
    @Test
    void rdmaOverTheCablesIsTried() throws IOException {
        addresses();
        for (String node : NODES) {
            rdma(node, "rdma_thunderbolt0", "thunderbolt0");
            rdma(node, "rdma_thunderbolt1", "thunderbolt1");
        }

        Observations seen = examined("right");

        List<Probe> direct = seen.probes().stream().filter(Probe::hasRdma).toList();
        assertThat(direct).hasSize(2 * NODES.size());
        assertThat(direct)
                .allSatisfy(probe -> assertThat(probe.result().rdma())
                        .as(probe.toString())
                        .containsInstanceOf(Transfer.Right.class));
        assertThat(findings(seen)).isEmpty();
    }

    @Test
    void aDeviceWithoutProviderOrInterfaceIsNamed() throws IOException {
        addresses();
        rdma("a", "rocep199s0f5", "thunderbolt0");
        rdma("b", "rdma_thunderbolt1", "");

        List<Finding> findings = findings(examined("right"));

        assertThat(findings)
                .as(findings::toString)
                .extracting(Finding::code)
                .containsExactlyInAnyOrder("usb4-no-provider", "usb4-rdma-no-interface");
        assertThat(findings.toString()).contains("rdma dev set rocep199s0f5 ", "roce_netdev=thunderbolt");
    }
}
