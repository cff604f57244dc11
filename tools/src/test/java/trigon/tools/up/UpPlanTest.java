package trigon.tools.up;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import trigon.tools.console.CommandFailure;
import trigon.tools.keep.Change;
import trigon.tools.up.Ends.Use;

class UpPlanTest {

    private static Cluster3 triangle() {
        return Cluster3.of("a", "b", "c")
                .cable("a eth1", "b eth1")
                .cable("a eth2", "c eth1")
                .cable("b eth2", "c eth2");
    }

    @Test
    void aSwitchKeepsItsAddressesAndCablesGetSome() {
        UpPlan plan = triangle().plan();

        assertThat(plan.cables()).isEqualTo(3);
        assertThat(plan.ends()).allMatch(nic -> nic.mtu() == 9000 && !nic.isRight());
        assertThat(plan.leftOut()).contains("a eth0: it hears several ends");
        assertThat(plan.shared().nics()).containsEntry("c", "eth0");
        assertThat(plan.shared().addresses()).containsEntry("c", "192.168.1.3");
    }

    @Test
    void whatIsRightStaysWithItsMtu() {
        Cluster3 right = Cluster3.of("a", "b").cable("a eth1", "b eth1", "10.5.0.1/30", "10.5.0.2/30");

        assertThat(right.login("a", "192.168.1.1").plan().isRight()).isTrue();
        assertThat(right.planned("a eth1")).isEqualTo("10.5.0.1/30");
    }

    @Test
    void anEndThatIsRightIsJoinedByTheOther() {
        Cluster3 half = triangle();
        half.cable("a eth3", "b eth3", "10.5.0.1/24");

        assertThat(half.planned("a eth3")).isEqualTo("10.5.0.1/24");
        assertThat(half.planned("b eth3")).isEqualTo("10.5.0.2/24");
    }

    @Test
    void twoCablesInOneSubnetGetOneEach() {
        Cluster3 shared = Cluster3.of("a", "b", "c")
                .cable("a eth1", "b eth1", "10.5.0.1/24", "10.5.0.2/24")
                .cable("a eth2", "c eth1", "10.5.0.3/24", "10.5.0.4/24");

        assertThat(shared.planned("a eth1")).isEqualTo("10.77.0.1/24");
        assertThat(shared.plan().changesOf("a").getFirst().changes())
                .as("the new address comes before the old one goes")
                .extracting(Change::command)
                .containsExactly(
                        "ip link set eth1 mtu 9000 up",
                        "ip addr replace 10.77.0.1/24 dev eth1",
                        "ip addr del 10.5.0.1/24 dev eth1");
    }

    /** Of a VPN or of containers: there need not be an interface with an address in it. */
    @Test
    void noCableGetsASubnetToWhichARouteLeads() {
        Cluster3 vpn = triangle().said("c", "route 10.77.0.0/23 dev wg0 proto static scope link");

        assertThat(vpn.planned("a eth1")).isEqualTo("10.77.2.1/24");
    }

    /** Between two nodes it looks like a cable. */
    @Test
    void aLanOfTwoNodesIsNoCable() {
        Cluster3 two = Cluster3.of("a", "b").cable("a eth1", "b eth1");

        assertThat(two.ends().of(Use.CABLE)).contains("a eth0", "a eth1");
        assertThat(two.login("a", "192.168.1.1")
                        .login("b", "192.168.1.2")
                        .plan()
                        .ends())
                .filteredOn(nic -> nic.end().nic().equals("eth0"))
                .as("it carries the login, and its addresses are right")
                .allMatch(NicPlan::isRight);

        two.said("a", "addr 2: eth0    inet 192.168.1.1/24 brd + scope global dynamic eth0\\ valid_lft 8sec");
        assertThat(two.ends().of("a", "eth0").use()).isEqualTo(Use.MANAGEMENT);

        Cluster3 strangers = Cluster3.of("a", "b").cable("a eth1", "b eth1");
        strangers.said("b", "neigh 192.168.1.9 dev eth0 lladdr 02:00:00:00:00:09 REACHABLE");
        assertThat(strangers.ends().of("b", "eth0").use()).isEqualTo(Use.SWITCH);
    }

    @Test
    void anAddressThatCarriesTheLoginIsNotChanged() {
        Cluster3 login = triangle();
        login.cable("a eth3", "b eth3", "10.5.0.1/24", "10.6.0.1/24").login("b", "10.6.0.1");

        assertThat(login.planned("b eth3")).isEqualTo("none");
        assertThat(login.plan().leftOut()).anyMatch(line -> line.startsWith("b eth3: it carries the login"));
    }

    @Test
    void wirelessAndPortsOfBridgesAreLeftAlone() {
        Cluster3 odd = triangle();
        odd.said("a", "nic wlan0 0x1003 1500 2304 wireless")
                .nic("a", "br-port")
                .said("a", "nic br-port 0x1003 1500 0 port");

        assertThat(odd.ends().of("a", "br-port").use()).isEqualTo(Use.MANAGEMENT);
    }

    @Test
    void whatNobodyHereCanKeepIsRefusedWithCommands() {
        assertThatThrownBy(triangle().manager("b", "eth1", "WICKED")::plan)
                .isInstanceOf(CommandFailure.class)
                .hasMessageContaining("b: wicked keeps eth1")
                .hasMessageContaining("ip addr replace 10.77.0.2/24 dev eth1");
    }

    @Test
    void withoutANetworkOfAllOrACableThereIsNoPlan() {
        Cluster3 apart = new Cluster3();
        apart.cable("a eth1", "b eth1").cable("b eth2", "c eth2");

        assertThatThrownBy(apart::plan).hasMessageContaining("no network joins all of a, b, c");
        assertThatThrownBy(Cluster3.of("a", "b", "c")::plan).hasMessageContaining("no cable joins these nodes");
    }

    @Test
    void aCableIsANetworkOfTwoNodes() {
        Cluster3 pair = new Cluster3();
        pair.cable("a eth1", "b eth1");

        assertThat(pair.plan().shared().addresses())
                .containsEntry("a", "10.77.0.1")
                .containsEntry("b", "10.77.0.2");
    }
}
