package trigon.routing.discovery;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The kernel's files as container and VM software, NICs and management controllers make them. */
class InnerInterfacesTest {

    private static final String BOUGHT = "3c:6d:66:01:02:03";
    private static final String MADE_UP = "be:3a:f2:b6:05:9f";

    @TempDir
    private Path sysfs;

    private final List<String> names = new ArrayList<>();

    @Test
    void bridgesOfContainersAndMachinesAreTakenForWhatTheyAre() throws IOException {
        veth("veth1", 11, 2);
        tap("tap0", 12);
        dummy("virbr0-nic", 13);
        bridge("docker0");
        bridge("incusbr0", "veth1");
        bridge("nerdctl0");
        bridge("mpqemubr0", "tap0");
        bridge("virbr0", "virbr0-nic", "tap0");

        assertThat(InnerInterfaces.of(sysfs, names).networks())
                .containsExactlyInAnyOrder("docker0", "incusbr0", "nerdctl0", "mpqemubr0", "virbr0");
    }

    /** As when a container ends: the kernel lets its files be opened, and says that there is no such device. */
    @Test
    void anInterfaceThatGoesAwayWhileItIsReadIsNoReasonToFail() throws IOException {
        nic("eth0", 2, "mlx5_core", BOUGHT);
        veth("veth1", 11, 2);
        Path uevent = sysfs.resolve("class/net/veth1/uevent");
        Files.delete(uevent);
        Files.createDirectory(uevent); // cannot be read once it is open

        assertThat(InnerInterfaces.of(sysfs, names).networks()).isEmpty();
    }

    @Test
    void bridgesWithAWayOutAreLinks() throws IOException {
        nic("eth0", 2, "mlx5_core", BOUGHT);
        tap("tap0", 12);
        typed("bond0", 5, "bond");
        typed("eth0.30", 6, "vlan");
        typed("vxlan7", 7, "vxlan");
        make("gretap1", 8, 0);
        make("team0", 9, 9);
        Files.createDirectories(nic("team0").resolve("lower_eth0"));
        bridge("vmbr0", "tap0", "eth0");
        bridge("vmbr1", "bond0");
        bridge("docker1", "eth0.30");
        bridge("br-aaaaaaaaaaaa", "vxlan7");
        bridge("br1", "gretap1");
        bridge("br2", "team0");
        bridge("br3", "not-to-be-seen-here");

        assertThat(InnerInterfaces.of(sysfs, names).networks()).isEmpty();
    }

    @Test
    void usbBetweenComputersIsNoNetwork() throws IOException {
        typed("usb0", 3, "gadget");
        typed("rndis0", 4, "gadget");
        bridge("l4tbr0", "usb0", "rndis0");
        nic("enxbe3af2b6059f", 6, "cdc_ether", MADE_UP);
        nic("enx3c6d66010203", 7, "cdc_ncm", BOUGHT);
        nic("enx3c6d66010204", 8, "r8152", MADE_UP);

        assertThat(InnerInterfaces.of(sysfs, names).networks())
                .containsExactlyInAnyOrder("usb0", "rndis0", "l4tbr0", "enxbe3af2b6059f");
    }

    @Test
    void aCableToAContainerIsOneAtItsOuterEndAlone() throws IOException {
        veth("eth0", 2, 11);
        veth("net1", 3, 12);
        tap("tap0", 4);
        assertThat(InnerInterfaces.of(sysfs, names).cables())
                .as("in the container, where there is no other way out")
                .isEmpty();

        nic("enp1s0", 5, "mlx5_core", BOUGHT);
        bridge("docker0", "net1");
        assertThat(InnerInterfaces.of(sysfs, names).cables()).containsExactlyInAnyOrder("eth0", "net1");
    }

    @Test
    void nothingIsSaidOfInterfacesThatTheKernelDoesNotShow() {
        assertThat(InnerInterfaces.of(sysfs, List.of("eth0", "docker0"))).isEqualTo(InnerInterfaces.NONE);
    }

    private Path nic(String name) {
        return sysfs.resolve("class/net").resolve(name);
    }

    private void make(String name, int index, int link) throws IOException {
        names.add(name);
        Files.createDirectories(nic(name));
        Files.writeString(nic(name).resolve("ifindex"), index + "\n");
        Files.writeString(nic(name).resolve("iflink"), link + "\n");
        Files.writeString(nic(name).resolve("uevent"), "INTERFACE=" + name + "\nIFINDEX=" + index + "\n");
    }

    private void veth(String name, int index, int other) throws IOException {
        make(name, index, other);
    }

    private void tap(String name, int index) throws IOException {
        make(name, index, index);
        Files.writeString(nic(name).resolve("tun_flags"), "0x1002\n");
    }

    private void dummy(String name, int index) throws IOException {
        make(name, index, index);
    }

    private void typed(String name, int index, String type) throws IOException {
        make(name, index, index);
        Files.writeString(nic(name).resolve("uevent"), "DEVTYPE=" + type + "\nINTERFACE=" + name + "\n");
    }

    private void nic(String name, int index, String driver, String mac) throws IOException {
        make(name, index, index);
        Path device = Files.createDirectories(sysfs.resolve("devices").resolve(name));
        Path module = Files.createDirectories(sysfs.resolve("drivers").resolve(driver));
        Files.createSymbolicLink(device.resolve("driver"), module);
        Files.createSymbolicLink(nic(name).resolve("device"), device);
        Files.writeString(nic(name).resolve("address"), mac + "\n");
    }

    private void bridge(String name, String... ports) throws IOException {
        typed(name, 100 + names.size(), "bridge");
        Files.createDirectories(nic(name).resolve("bridge"));
        Files.createDirectories(nic(name).resolve("brif"));
        for (String port : ports) {
            Files.createDirectories(nic(name).resolve("brif").resolve(port));
        }
    }
}
