package trigon.tools.keep;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import trigon.cluster.facts.NodeFacts;
import trigon.cluster.json.Json;
import trigon.cluster.json.JsonObject;

class LastingTest {

    private static final String ADD = "ip addr add 10.0.12.1/24 dev eth1";

    private static NodeFacts node(String manager, String... addresses) {
        return JsonObject.parse(Json.text(Json.object(
                        "interfaces",
                        List.of(Json.object("name", "eth1", "mtu", 1500, "addresses", List.of(addresses))),
                        "managers",
                        Map.of("eth1", manager))))
                .as(NodeFacts.class);
    }

    @Test
    void anAddressIsKeptByTheProgramInCharge() {
        assertThat(Lasting.of(ADD, node("NETWORKD")))
                .startsWith("# to keep it, by networkd:")
                .contains("#   Address=10.0.12.1/24", "#   MTUBytes=1500", "#   networkctl reconfigure eth1");
    }

    @Test
    void ofTwoCommandsTheResultIsKept() {
        List<String> lines = Lasting.of(
                "ip addr del 10.9.0.1/24 dev eth1 && ip addr add 10.0.12.1/24 dev eth1 && ip link set eth1 mtu 9000",
                node("NETWORK_MANAGER", "10.9.0.1/24"));

        assertThat(lines).contains("#   address1=10.0.12.1/24", "#   mtu=9000").doesNotContain("#   address2");
        assertThat(lines).filteredOn(line -> line.startsWith("# to keep it")).hasSize(1);
    }

    /** With a file of Trigon's own, what DHCP has given would go. */
    @Test
    void whatGivesAnInterfaceItsAddressStays() {
        assertThat(Lasting.of(ADD, node("NETWORK_MANAGER", "192.168.1.7/24")))
                .containsExactly("# to keep it: change eth1 in the files of NetworkManager, which has it");
        assertThat(Lasting.of(ADD, node("WICKED")))
                .containsExactly("# to keep it: change eth1 in the files of wicked, which has it");
    }

    @Test
    void aSettingOfTheKernelIsKept() {
        assertThat(Lasting.of("sysctl -w net.ipv4.conf.eth1.rp_filter=2", NodeFacts.NONE))
                .containsExactly(
                        "# to keep it: echo 'net.ipv4.conf.eth1.rp_filter = 2' >> /etc/sysctl.d/60-trigon.conf");
    }

    @Test
    void nothingIsSaidOfWhatOnlyLooks() {
        assertThat(Lasting.of("ip route get 10.0.12.2; ip neigh show 10.0.12.2", NodeFacts.NONE))
                .isEmpty();
        assertThat(Lasting.of("ip -s link; tc -s qdisc", NodeFacts.NONE)).isEmpty();
    }

    @Test
    void rulesOfIptablesAreSavedUnlessTheCommandDoes() {
        String rule = "iptables -I INPUT -s 10.0.12.1 -j ACCEPT";

        assertThat(Lasting.of(rule, NodeFacts.NONE)).singleElement().asString().contains("netfilter-persistent");
        assertThat(Lasting.of(rule + " && netfilter-persistent save", NodeFacts.NONE))
                .isEmpty();
    }
}
