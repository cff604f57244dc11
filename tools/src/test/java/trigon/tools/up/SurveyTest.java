package trigon.tools.up;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
import org.junit.jupiter.api.Test;
import trigon.system.InterfaceAddress;

class SurveyTest {

    @Test
    void linesOfIpAreRead() {
        Survey survey = Survey.read("""
                nic eth1 0x1002 1500 9978 nic
                deaf eth1
                nic wlan0 0x1003 1500 2304 wireless
                route 10.8.0.0/24 dev tun0 proto kernel scope link src 10.8.0.2
                route 10.9.0.1 via 10.8.0.1 dev tun0 table 52
                route default via 192.168.1.254 dev eth0 proto dhcp
                route local 10.8.0.2 dev tun0 table local proto kernel scope host
                addr 2: eth0    inet 192.168.1.7/24 brd 192.168.1.255 scope global dynamic eth0\\       valid_lft 9sec
                neigh 192.168.1.9 dev eth0 lladdr 02:00:00:00:00:09 STALE
                neigh 192.168.1.8 dev eth0 FAILED
                """);

        assertThat(survey.down()).containsExactly("eth1");
        assertThat(survey.nics()).containsEntry("eth1", new Survey.Link(false, 1500, 9978, "nic"));
        assertThat(survey.routes())
                .extracting(Survey.Route::subnet)
                .containsExactly(InterfaceAddress.parse("10.8.0.0/24"), InterfaceAddress.parse("10.9.0.1/32"));
        assertThat(survey.leased()).containsExactly("192.168.1.7/24");
        assertThat(survey.deaf()).containsExactly("eth1");
        assertThat(survey.neighbours()).containsEntry("eth0", Set.of("02:00:00:00:00:09"));
    }

    @Test
    void whatANodeShouldNotSayCountsAsNothing() {
        Survey survey = Survey.read("""
                nic $(reboot) 0x1003 1500 0 nic
                nic eth1;reboot 0x1003 1500 0 nic
                deaf eth1;reboot
                nic eth1 0xffffffffffff 1500 0 nic
                route 999.1.1.1/24 dev eth1
                addr 2: eth0 inet 1.2.3.4/99 dynamic
                """);

        assertThat(survey.nics()).isEmpty();
        assertThat(survey.routes()).isEmpty();
        assertThat(survey.leased()).isEmpty();
        assertThat(survey.deaf()).isEmpty();
    }
}
