package trigon.routing.hardware;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import trigon.routing.LocalLink;
import trigon.system.InterfaceAddress;
import trigon.verbs.Gid;
import trigon.verbs.LinkKind;

/** Made machines: which NICs are near to which GPUs. */
class NicGroupsTest {

    private static final int FAST = 400_000;

    @TempDir
    private Path sysfs;

    private final List<LocalLink> links = new ArrayList<>();

    @BeforeEach
    void makeBus() throws IOException {
        Files.createDirectories(sysfs.resolve("bus/pci/devices"));
    }

    /** A function behind these bridges; its address is the last part. */
    private Path function(String path, int numaNode, String vendor, String kind) throws IOException {
        Path function = Files.createDirectories(sysfs.resolve("devices").resolve(path));
        Files.writeString(function.resolve("vendor"), vendor + "\n");
        Files.writeString(function.resolve("class"), kind + "\n");
        Files.writeString(function.resolve("numa_node"), numaNode + "\n");
        Files.createSymbolicLink(function.resolve("subsystem"), sysfs.resolve("bus/pci"));
        Files.createSymbolicLink(sysfs.resolve("bus/pci/devices").resolve(function.getFileName()), function);
        return function;
    }

    private void gpu(String path, int numaNode) throws IOException {
        function(path, numaNode, "0x10de", "0x030200");
    }

    private LocalLink nic(String name, int mbps, String path, int numaNode) throws IOException {
        Path device = Files.createDirectories(sysfs.resolve("class/infiniband").resolve(name));
        Files.createSymbolicLink(device.resolve("device"), function(path, numaNode, "0x15b3", "0x020700"));
        return link(name, LinkKind.RDMA, mbps);
    }

    private LocalLink link(String name, LinkKind kind, int mbps) {
        int rank = links.size();
        InterfaceAddress address = InterfaceAddress.parse("10.0.%d.1/24".formatted(rank));
        LocalLink link = new LocalLink(
                name, kind, name, 1, address, 0, Gid.of(address.address()), mbps, "en_" + name, rank + 1, rank);
        links.add(link);
        return link;
    }

    private List<List<LocalLink>> groups() {
        return NicGroups.of(links, new NicHardware(sysfs));
    }

    /** Eight GPUs, each below a switch with a NIC; and a NIC for storage, which is near to four of them. */
    @Test
    void eachGpuOfADgxHasItsNic() throws IOException {
        List<LocalLink> nics = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            String upstream = "pci0000:%x0/0000:%x0:01.0/0000:%x1:00.0".formatted(i + 1, i + 1, i + 1);
            gpu(upstream + "/0000:%x2:00.0/0000:%x3:00.0".formatted(i + 1, i + 1), i / 4);
            nics.add(nic("mlx5_" + i, FAST, upstream + "/0000:%x2:01.0/0000:%x4:00.0".formatted(i + 1, i + 1), i / 4));
        }
        nic("storage", FAST, "pci0000:00/0000:00:01.0/0000:01:00.0", 0);

        assertThat(groups())
                .containsExactlyElementsOf(nics.stream().map(List::of).toList());
    }

    @Test
    void gpusBelowOneSwitchShareItsNics() throws IOException {
        List<LocalLink> nics = new ArrayList<>();
        for (int i = 1; i <= 2; i++) {
            String upstream = "pci0000:%d0/0000:%d0:01.0/0000:%d1:00.0".formatted(i, i, i);
            gpu(upstream + "/0000:%d2:00.0/0000:%d3:00.0".formatted(i, i), i - 1);
            gpu(upstream + "/0000:%d2:01.0/0000:%d4:00.0".formatted(i, i), i - 1);
            nics.add(nic("one" + i, FAST, upstream + "/0000:%d2:02.0/0000:%d5:00.0".formatted(i, i), i - 1));
            nics.add(nic("two" + i, FAST, upstream + "/0000:%d2:03.0/0000:%d6:00.0".formatted(i, i), i - 1));
        }

        assertThat(groups()).containsExactly(nics.subList(0, 2), nics.subList(2, 4));
    }

    @Test
    void aPcOfTwoSocketsHasTwo() throws IOException {
        gpu("pci0000:00/0000:00:01.0/0000:01:00.0", 0);
        gpu("pci0000:80/0000:80:01.0/0000:81:00.0", 1);
        LocalLink first = nic("mlx5_0", FAST, "pci0000:00/0000:00:02.0/0000:02:00.0", 0);
        LocalLink second = nic("mlx5_1", FAST, "pci0000:80/0000:80:02.0/0000:82:00.0", 1);

        assertThat(groups()).containsExactly(List.of(first), List.of(second));
    }

    /** Its network for management is near to the other GPU, and no good for it. */
    @Test
    void aSlowNicIsNone() throws IOException {
        gpu("pci0000:00/0000:00:01.0/0000:01:00.0", 0);
        gpu("pci0000:80/0000:80:01.0/0000:81:00.0", 1);
        LocalLink fast = nic("mlx5_0", FAST, "pci0000:00/0000:00:02.0/0000:02:00.0", 0);
        nic("management", 1000, "pci0000:80/0000:80:02.0/0000:82:00.0", 1);

        assertThat(groups()).containsExactly(List.of(fast));
    }

    @Test
    void allNicsOfTheOnlyGpuAreOne() throws IOException {
        gpu("pci0000:00/0000:00:01.0/0000:01:00.0", -1);
        nic("mlx5_0", FAST, "pci0000:00/0000:00:02.0/0000:02:00.0", -1);
        nic("mlx5_1", FAST, "pci0000:00/0000:00:03.0/0000:03:00.0", -1);

        assertThat(groups()).containsExactly(links);
    }

    /** Both functions of a port of a DGX Spark have PCI domains of their own. */
    @Test
    void theFunctionsOfASparkAreOne() throws IOException {
        gpu("pci000f:00/000f:00:00.0/000f:01:00.0", -1);
        nic("rocep1s0f0", FAST / 2, "pci0000:00/0000:00:00.0/0000:01:00.0", -1);
        nic("roceP2p1s0f0", FAST / 2, "pci0002:00/0002:00:00.0/0002:01:00.0", -1);

        assertThat(groups()).containsExactly(links);
    }

    @Test
    void withoutGpusAllAreOne() throws IOException {
        nic("mlx5_0", FAST, "pci0000:00/0000:00:02.0/0000:02:00.0", 0);
        nic("mlx5_1", FAST, "pci0000:80/0000:80:02.0/0000:82:00.0", 1);

        assertThat(groups()).containsExactly(links);
    }

    @Test
    void interfacesWithoutHardwareAreNone() throws IOException {
        gpu("pci0000:00/0000:00:01.0/0000:01:00.0", 0);
        link("veth0", LinkKind.SOFTWARE, FAST);

        assertThat(groups()).isEmpty();
        assertThat(NicGroups.of(List.of(), new NicHardware(sysfs.resolve("missing"))))
                .isEmpty();
    }
}
