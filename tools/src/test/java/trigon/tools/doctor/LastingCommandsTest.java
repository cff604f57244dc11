package trigon.tools.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class LastingCommandsTest {

    private static final String CONNECTION =
            "# NetworkManager: nmcli connection modify \"$(nmcli -g GENERAL.CONNECTION device show eth1)\" ";

    @Test
    void anAddressIsAddedToTheConnectionAndToTheFile() {
        assertThat(LastingCommands.of("ip addr add 10.0.12.1/24 dev eth1", _ -> false))
                .containsExactly(
                        CONNECTION + "+ipv4.addresses 10.0.12.1/24 ipv4.method manual && nmcli device reapply eth1",
                        "# netplan: netplan set 'ethernets.eth1.addresses=[10.0.12.1/24]' && netplan apply");
    }

    /** With method manual, NetworkManager would take away what DHCP has given. */
    @Test
    void whatGivesAnInterfaceItsAddressStays() {
        assertThat(LastingCommands.of("ip addr add 10.0.12.1/24 dev eth1", "eth1"::equals))
                .contains(CONNECTION + "+ipv4.addresses 10.0.12.1/24 && nmcli device reapply eth1");
    }

    @Test
    void ofTwoCommandsBothAreKept() {
        assertThat(LastingCommands.of(
                        "ip addr del fd00::1/64 dev eth1 && ip addr add fd00:2::1/64 dev eth1", _ -> false))
                .containsExactly(
                        CONNECTION + "-ipv6.addresses fd00::1/64 && nmcli device reapply eth1",
                        "# netplan: take fd00::1/64 from the addresses of eth1 in /etc/netplan, then netplan apply",
                        CONNECTION + "+ipv6.addresses fd00:2::1/64 && nmcli device reapply eth1",
                        "# netplan: netplan set 'ethernets.eth1.addresses=[fd00:2::1/64]' && netplan apply");
    }

    @Test
    void anMtuAndASettingOfTheKernelAreKept() {
        assertThat(LastingCommands.of("ip link set eth1 mtu 9000", _ -> false))
                .containsExactly(
                        CONNECTION + "802-3-ethernet.mtu 9000 && nmcli device reapply eth1",
                        "# netplan: netplan set ethernets.eth1.mtu=9000 && netplan apply");
        assertThat(LastingCommands.of("sysctl -w net.ipv4.conf.eth1.rp_filter=2", _ -> false))
                .containsExactly(
                        "# to keep it: echo 'net.ipv4.conf.eth1.rp_filter = 2' >> /etc/sysctl.d/60-trigon.conf");
    }

    @Test
    void nothingIsSaidOfWhatOnlyLooks() {
        assertThat(LastingCommands.of("ip route get 10.0.12.2; ip neigh show 10.0.12.2", _ -> false))
                .isEmpty();
        assertThat(LastingCommands.of("ip -s link; tc -s qdisc", _ -> false)).isEmpty();
    }

    @Test
    void rulesOfIptablesAreSavedUnlessTheCommandDoes() {
        String rule = "iptables -I INPUT -s 10.0.12.1 -j ACCEPT";

        assertThat(LastingCommands.of(rule, _ -> false))
                .singleElement()
                .asString()
                .contains("netfilter-persistent");
        assertThat(LastingCommands.of(rule + " && netfilter-persistent save", _ -> false))
                .isEmpty();
    }
}
