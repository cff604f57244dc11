package trigon.cluster.probe;

import static org.assertj.core.api.Assertions.assertThat;
import static trigon.cluster.probe.PlantedFault.ofCable;
import static trigon.cluster.probe.PlantedFault.ofNode;
import static trigon.cluster.probe.PlantedFault.ofTwo;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import trigon.cluster.diagnosis.Diagnosis;
import trigon.cluster.diagnosis.Finding;

/**
 * Faults planted into machines that have RDMA devices of the kernel's, SoftRoCE. The lab's script starts it on the host
 * while the machines are up, and names itself by {@code -Dtrigon.lab}.
 */
@Timeout(600)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class PlantedLabFaults {

    private static LabMachines lab;

    /** What such machines have themselves: limits, and emulated processors that are late, so that rxe sends again. */
    private static final Set<String> USUAL =
            Set.of("open-files-low", "shared-memory-small", "tasks-few", "round-trip-long", "rdma-sent-again");

    @BeforeAll
    static void connect() throws IOException {
        lab = new LabMachines(Path.of(System.getProperty("trigon.lab")));
        // emulated processors take long to do anything for the first time
        var _ = PlantedFault.examined(lab, 3, false);
    }

    @AfterAll
    static void disconnect() throws IOException {
        lab.close();
    }

    @Test
    @Order(1)
    void healthyLinksCarryDataByRdmaAndHaveNoFindings() {
        Observations seen = PlantedFault.examined(lab, 3, false);
        List<Finding> findings = Diagnosis.of(seen);

        assertThat(PlantedFault.codes(findings, USUAL)).as(findings::toString).isEmpty();
        assertThat(seen.probes())
                .as("each link in both directions")
                .hasSize(6)
                .allSatisfy(probe ->
                        assertThat(probe.isRdmaRight()).as(probe.toString()).isTrue());
    }

    static List<PlantedFault> faults() {
        String to4791 = " INPUT -i ba -p udp --dport 4791 -j DROP";
        String tcp = " INPUT -i ba -p tcp --syn -j DROP";
        return List.of(
                ofTwo("a firewall drops RoCE's packets", "rdma-no-acknowledgement")
                        .on("b", "iptables-legacy -A" + to4791, "iptables-legacy -D" + to4791),
                ofTwo("a machine without /dev/infiniband", "no-dev-infiniband")
                        .on("b", "mv /dev/infiniband /dev/none", "mv /dev/none /dev/infiniband"),
                ofTwo("an interface is down", "interface-down").on("b", "ip link set ba down", "ip link set ba up"),
                ofTwo("a firewall drops TCP", "tcp-blocked")
                        .on("b", "iptables-legacy -A" + tcp, "iptables-legacy -D" + tcp),
                ofTwo("every tenth packet is lost", "packets-lost")
                        .on("b", "tc qdisc add dev ba root netem loss 10%", "tc qdisc del dev ba root"),
                ofTwo("an address is another one", "no-common-subnet")
                        .on("b", "ip addr del 10.0.12.2/24 dev ba", "ip addr add 10.0.12.2/24 dev ba")
                        .on("b", "ip addr add 10.0.99.2/24 dev ba", "ip addr del 10.0.99.2/24 dev ba"),
                ofTwo("a clock is five minutes off", "clock").on("b", "date -s +5minutes", "date -s -5minutes"),
                ofNode("8 MiB of locked memory", "memlock-low")
                        .on("a", "prlimit --pid PID --memlock=8388608", "prlimit --pid PID --memlock=unlimited"));
    }

    @ParameterizedTest
    @MethodSource("faults")
    @Order(2)
    void aFaultIsFoundAndNothingElse(PlantedFault fault) throws IOException {
        fault.plant(lab);
        List<Finding> findings = Diagnosis.of(PlantedFault.examined(lab, fault.nodes(), fault.isMeasured()));
        fault.mend(lab);

        assertThat(PlantedFault.codes(findings, USUAL)).as(findings::toString).isEqualTo(new TreeSet<>(fault.codes()));
    }

    @Test
    @Order(3)
    void twoAtATimeAreBothFound() throws IOException {
        String to4791 = " INPUT -i ba -p udp --dport 4791 -j DROP";
        PlantedFault firewall = ofCable("ab", "a firewall drops RoCE's packets", "rdma-no-acknowledgement")
                .on("b", "iptables-legacy -A" + to4791, "iptables-legacy -D" + to4791);
        PlantedFault clock =
                ofNode("a clock is five minutes off", "clock").on("c", "date -s +5minutes", "date -s -5minutes");
        firewall.plant(lab);
        clock.plant(lab);
        List<Finding> findings = Diagnosis.of(PlantedFault.examined(lab, 3, false));
        clock.mend(lab);
        firewall.mend(lab);

        assertThat(PlantedFault.codes(findings, USUAL))
                .as(findings::toString)
                .containsExactly("clock", "rdma-no-acknowledgement");
    }
}
