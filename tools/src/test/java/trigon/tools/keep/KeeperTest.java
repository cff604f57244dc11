package trigon.tools.keep;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import trigon.cluster.machine.NicManager;
import trigon.system.InterfaceAddress;

class KeeperTest {

    private static final WantedNic NIC = new WantedNic(
            "eth1",
            9000,
            List.of(InterfaceAddress.parse("fd00::1/64")),
            List.of(InterfaceAddress.parse("10.77.0.1/24")));

    private static LastingFile file(Keeper keeper) {
        return keeper.files(NIC).getFirst();
    }

    @Test
    void networkManagerGetsAProfileThatOnlyRootReads() {
        Keeper keeper = new NetworkManagerKeeper();

        assertThat(file(keeper))
                .isEqualTo(
                        new LastingFile("/etc/NetworkManager/system-connections/trigon-eth1.nmconnection", "600", """
                        [connection]
                        id=trigon-eth1
                        type=ethernet
                        interface-name=eth1
                        autoconnect-priority=100

                        [ethernet]
                        mtu=9000

                        [ipv4]
                        method=manual
                        address1=10.77.0.1/24
                        never-default=true

                        [ipv6]
                        method=manual
                        address1=fd00::1/64
                        never-default=true
                        """));
        assertThat(keeper.activate(NIC)).containsExactly("nmcli --wait 20 connection up trigon-eth1");
        assertThat(keeper.isDaemon()).isTrue();
    }

    @Test
    void networkdGetsAFileThatComesFirst() {
        Keeper keeper = new NetworkdKeeper();

        assertThat(file(keeper).path()).isEqualTo("/etc/systemd/network/05-trigon-eth1.network");
        assertThat(file(keeper).text())
                .contains("Name=eth1\n", "MTUBytes=9000\n", "Address=fd00::1/64\nAddress=10.77.0.1/24\n");
        assertThat(keeper.reread(NIC)).containsExactly("networkctl reload");
        assertThat(keeper.release(NIC)).containsExactly("networkctl reconfigure eth1");
    }

    /** It would touch the interface that carries the login, too. */
    @Test
    void netplanAppliesNothingToOtherInterfaces() {
        Keeper keeper = new NetplanKeeper();

        assertThat(file(keeper).path()).isEqualTo("/etc/netplan/60-trigon-eth1.yaml");
        assertThat(file(keeper).mode()).isEqualTo("600");
        assertThat(file(keeper).text()).contains("eth1: {addresses: [fd00::1/64, 10.77.0.1/24], mtu: 9000");
        assertThat(keeper.script(NIC)).contains("netplan generate").noneMatch(line -> line.contains("netplan apply"));
    }

    /** Other stanzas of the interface count as well. */
    @Test
    void ifupdownGetsAStanzaForWhatIsAdded() {
        assertThat(file(new IfupdownKeeper()))
                .isEqualTo(new LastingFile("/etc/network/interfaces.d/trigon-eth1", "644", """
                        auto eth1
                        iface eth1 inet static
                            address 10.77.0.1/24
                            mtu 9000
                        """));
        assertThat(new IfupdownKeeper().isDaemon()).isFalse();
    }

    @Test
    void withoutAnyProgramAUnitGivesTheAddresses() {
        List<LastingFile> files = new UnitKeeper().files(new WantedNic("wg-0@x", 9000, List.of(), NIC.added()));

        assertThat(files.getFirst().path()).isEqualTo("/etc/systemd/system/trigon-wg\\x2d0\\x40x.service");
        assertThat(files.getFirst().text())
                .contains(
                        "After=sys-subsystem-net-devices-wg\\x2d0\\x40x.device\n",
                        "ExecStart=/usr/bin/env ip link set wg-0@x mtu 9000 up\n",
                        "ExecStart=/usr/bin/env ip addr replace 10.77.0.1/24 dev wg-0@x\n");
        assertThat(files.getLast().isLink()).isTrue();
    }

    static List<Keeper> all() {
        return Keeper.all();
    }

    @ParameterizedTest
    @MethodSource("all")
    void aScriptIsOneOfAPlainShell(Keeper keeper) throws Exception {
        Process shell = new ProcessBuilder("sh", "-n").redirectErrorStream(true).start();
        try (var script = shell.outputWriter()) {
            script.write(String.join("\n", keeper.script(NIC)) + "\n");
        }
        assertThat(shell.inputReader().lines()).isEmpty();
        assertThat(shell.waitFor()).isZero();
    }

    @Test
    void othersAreToldByHand() {
        assertThat(Keeper.of(NicManager.WICKED)).isEmpty();
        assertThat(Keeper.of(NicManager.CONNMAN)).isEmpty();
        assertThat(Keeper.of(NicManager.NOBODY)).contains(new UnitKeeper());
    }
}
