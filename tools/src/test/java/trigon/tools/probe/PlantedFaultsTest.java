package trigon.tools.probe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import trigon.tools.console.Console;
import trigon.tools.doctor.Diagnosis;
import trigon.tools.doctor.Finding;

/** Faults planted into the links of four namespaces, whose agents are processes as on nodes. */
@Timeout(240)
class PlantedFaultsTest {

    private static LinkNamespaces lab;

    @BeforeAll
    static void build() throws IOException {
        assumeTrue(LinkNamespaces.areThere(), "network namespaces need root");
        lab = new LinkNamespaces("a", "b", "c", "d");
    }

    @AfterAll
    static void tearDown() throws IOException {
        if (lab != null) {
            lab.close();
        }
    }

    private static List<Finding> examine(int nodes) {
        Console nowhere = new Console(
                new PrintStream(new ByteArrayOutputStream(), false, StandardCharsets.UTF_8),
                new PrintStream(new ByteArrayOutputStream(), false, StandardCharsets.UTF_8),
                false,
                false,
                100);
        return Diagnosis.of(new Examination(lab.nodes().subList(0, nodes), nowhere, false).run());
    }

    private static Set<String> codes(List<Finding> findings) {
        Set<String> codes = new LinkedHashSet<>();
        // what the machine under the namespaces has, such as a small limit, is no fault of the links
        findings.stream()
                .filter(finding -> !finding.code().matches("open-files-low|shared-memory-small|tasks-few|nccl-.*"))
                .forEach(finding -> codes.add(finding.code()));
        return codes;
    }

    @ParameterizedTest
    @ValueSource(strings = {"ab bc cd ad", "ab bc cd", "ab ac ad", "ab ac ad bc bd cd"})
    void healthyShapesHaveNoFindings(String cables) throws IOException {
        int subnet = 1;
        try {
            for (String cable : cables.split(" ", -1)) {
                lab.cable(cable.substring(0, 1), cable.substring(1), subnet++);
            }
            assertThat(codes(examine(4))).isEmpty();
        } finally {
            lab.unplug();
        }
    }

    @Test
    void faultsOfATriangleAreFound() throws IOException {
        lab.cable("a", "b", 1);
        lab.cable("a", "c", 2);
        lab.cable("b", "c", 3);
        try {
            assertThat(codes(examine(3))).isEmpty();

            lab.in("b", "ip link set ba1 mtu 1400");
            lab.in("c", "ip addr del 10.77.3.2/24 dev cb3");
            lab.in("c", "ip addr add 10.77.9.2/24 dev cb3");
            assertThat(codes(examine(3))).containsExactlyInAnyOrder("mtu", "no-common-subnet");
            lab.in("b", "ip link set ba1 mtu 1500");
            lab.in("c", "ip addr del 10.77.9.2/24 dev cb3");

            lab.in("c", "ip addr add 10.77.3.2/28 dev cb3");
            lab.in("a", "ip route add 10.77.1.2/32 via 10.77.2.2");
            assertThat(codes(examine(3))).containsExactlyInAnyOrder("prefix-differs", "route-elsewhere");
            lab.in("a", "ip route del 10.77.1.2/32");
            lab.in("c", "ip addr del 10.77.3.2/28 dev cb3");

            lab.in("c", "ip addr add 10.77.3.1/24 dev cb3");
            assertThat(codes(examine(3))).containsExactly("address-twice");
            lab.in("c", "ip addr del 10.77.3.1/24 dev cb3");
            lab.in("c", "ip addr add 10.77.3.2/24 dev cb3");

            lab.in("a", "ip addr del 10.77.1.1/24 dev ab1");
            lab.in("a", "ip addr del 10.77.2.1/24 dev ac2");
            lab.in("a", "ip addr add 10.77.2.1/24 dev ab1");
            lab.in("a", "ip addr add 10.77.1.1/24 dev ac2");
            assertThat(codes(examine(3))).containsExactly("cable-elsewhere");
            lab.in("a", "ip addr del 10.77.2.1/24 dev ab1");
            lab.in("a", "ip addr del 10.77.1.1/24 dev ac2");
            lab.in("a", "ip addr add 10.77.1.1/24 dev ab1");
            lab.in("a", "ip addr add 10.77.2.1/24 dev ac2");

            lab.in("a", "ip addr add 10.77.1.9/24 dev ac2");
            assertThat(codes(examine(3))).contains("interfaces-in-one-subnet");
            lab.in("a", "ip addr del 10.77.1.9/24 dev ac2");

            lab.in("b", "ip link set ba1 down");
            assertThat(codes(examine(3))).contains("no-carrier", "interface-down");
            lab.in("b", "ip link set ba1 up");

            lab.in("b", "ip link set ba1 arp off");
            assertThat(codes(examine(3))).contains("no-neighbour");
            lab.in("b", "ip link set ba1 arp on");
        } finally {
            lab.unplug();
        }
    }

    @Test
    void firewallsAreFound() throws IOException {
        lab.cable("a", "b", 1);
        try {
            try {
                lab.in("a", "iptables -A INPUT -p udp --dport 4791 -j DROP");
            } catch (IOException e) {
                assumeTrue(false, "no firewall here: " + e.getMessage());
            }
            assertThat(codes(examine(2))).containsExactly("roce-port-blocked");

            lab.in("a", "iptables -A INPUT -p tcp --syn -j DROP");
            assertThat(codes(examine(2))).containsExactly("tcp-blocked");

            lab.in("a", "iptables -F");
            lab.in("a", "iptables -A INPUT -p tcp --syn -j REJECT --reject-with tcp-reset");
            lab.in("b", "iptables -A INPUT -p udp -j DROP");
            assertThat(codes(examine(2))).contains("tcp-refused", "udp-blocked");

            lab.in("a", "iptables -F");
            lab.in("b", "iptables -F");
            lab.in("b", "iptables -A INPUT -s 10.77.1.1 -j DROP");
            assertThat(codes(examine(2))).contains("all-blocked");
            lab.in("b", "iptables -F");
            assertThat(codes(examine(2))).isEmpty();
        } finally {
            lab.unplug();
        }
    }
}
