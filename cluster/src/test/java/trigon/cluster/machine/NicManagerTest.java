package trigon.cluster.machine;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NicManagerTest {

    @TempDir
    private Path root;

    @BeforeEach
    void anInterface() throws IOException {
        file("sys/class/net/eth1/ifindex", "7\n");
    }

    private void file(String path, String text) throws IOException {
        Files.createDirectories(root.resolve(path).getParent());
        Files.writeString(root.resolve(path), text);
    }

    private NicManager manager() {
        Machine machine = new Machine(root, Map.of(), "here", "1.2.3", Optional.empty());
        return NicManager.of(machine, List.of(Nic.named("eth1")))
                .values()
                .iterator()
                .next();
    }

    @Test
    void nobodyIsInChargeWhereNothingSaysSo() throws IOException {
        file("run/NetworkManager/devices/7", "[device]\nmanaged=false\n");
        file("run/systemd/netif/links/7", "ADMIN_STATE=unmanaged\n");
        file("etc/network/interfaces", "auto eth10\niface eth10 inet dhcp\n");

        assertThat(manager()).isEqualTo(NicManager.NOBODY);
    }

    @Test
    void aFileOfNetplanIsBehindTheOneInCharge() throws IOException {
        file("run/systemd/netif/links/7", "ADMIN_STATE=configured\nNETWORK_FILE=/etc/systemd/network/a.network\n");
        assertThat(manager()).isEqualTo(NicManager.NETWORKD);

        file("run/systemd/netif/links/7", "NETWORK_FILE=/run/systemd/network/10-netplan-eth1.network\n");
        assertThat(manager()).isEqualTo(NicManager.NETPLAN);

        file("run/NetworkManager/devices/7", "[device]\nmanaged=true\n");
        assertThat(manager()).isEqualTo(NicManager.NETWORK_MANAGER);

        file("run/NetworkManager/system-connections/netplan-eth1.nmconnection", "");
        assertThat(manager()).isEqualTo(NicManager.NETPLAN);
    }

    @Test
    void ifupdownHasWhatItsFilesName() throws IOException {
        file("etc/network/interfaces.d/cables", "iface eth1 inet manual\n");
        assertThat(manager()).isEqualTo(NicManager.IFUPDOWN);
    }

    @Test
    void wickedHasAllOfThem() throws IOException {
        Files.createDirectories(root.resolve("sys/fs/cgroup/system.slice/wickedd.service"));
        assertThat(manager()).isEqualTo(NicManager.WICKED);
    }
}
