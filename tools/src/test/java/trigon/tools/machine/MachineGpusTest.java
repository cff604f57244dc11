package trigon.tools.machine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import trigon.cluster.json.JsonObject;
import trigon.cluster.machine.Machine;
import trigon.cluster.machine.MachineGpus;
import trigon.cluster.machine.MachineGpus.AccessControl;
import trigon.cluster.machine.MachineGpus.GpuPath;
import trigon.routing.hardware.PciDistance;
import trigon.system.GpuVendor;
import trigon.tools.Run;

/** A made machine of two sockets: one has a NIC and a GPU below a switch and a GPU elsewhere, the other a GPU. */
class MachineGpusTest {

    private static final String SWITCH = "sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0/";
    private static final String NEAR = SWITCH + "0000:02:01.0/0000:04:00.0";
    private static final String NIC_PORT = SWITCH + "0000:02:00.0";

    @TempDir
    private Path root;

    @BeforeEach
    void makeMachine() throws IOException {
        function(NIC_PORT + "/0000:03:00.0", 0, "0x15b3", "0x020700");
        function(NEAR, 0, "0x10de", "0x030200");
        function("sys/devices/pci0000:00/0000:00:02.0/0000:05:00.0", 0, "0x10de", "0x030200");
        function("sys/devices/pci0000:80/0000:80:01.0/0000:81:00.0", 1, "0x10de", "0x030000");
        function("sys/devices/pci0000:80/0000:80:01.0/0000:81:00.1", 1, "0x10de", "0x040300"); // its sound
        link("sys/class/infiniband/mlx5_0/device", NIC_PORT + "/0000:03:00.0");
        Files.createDirectories(root.resolve("sys/class/infiniband/rxe0")); // SoftRoCE's have no PCI function
        write("proc/driver/nvidia/gpus/0000:04:00.0/information", "Model: \t\t NVIDIA H100 80GB HBM3\nIRQ: 16\n");
    }

    private void function(String path, int numaNode, String vendor, String kind) throws IOException {
        write(path + "/vendor", vendor + "\n");
        write(path + "/class", kind + "\n");
        write(path + "/numa_node", numaNode + "\n");
        link("sys/bus/pci/devices/" + Path.of(path).getFileName(), path);
    }

    private void write(String path, String text) throws IOException {
        Path file = root.resolve(path);
        Files.createDirectories(file.resolveSibling(""));
        Files.writeString(file, text);
    }

    private void link(String path, String target) throws IOException {
        Path link = root.resolve(path);
        Files.createDirectories(link.resolveSibling(""));
        Files.createSymbolicLink(link, root.resolve(target));
    }

    /** A port's configuration, with capabilities at 0x100 and 0x148; the second is access control. */
    private void configuration(String port, int control, int size) throws IOException {
        ByteBuffer configuration = ByteBuffer.allocate(4096).order(ByteOrder.LITTLE_ENDIAN);
        configuration.putInt(0x100, 0x148 << 20 | 1 << 16 | 0x0001);
        configuration.putInt(0x148, 1 << 16 | 0x000d);
        configuration.putShort(0x148 + 6, (short) control);
        byte[] bytes = new byte[size];
        configuration.get(0, bytes);
        Files.write(root.resolve(port).resolve("config"), bytes);
    }

    private Machine machine() {
        return new Machine(root, Map.of(), "here", "1.2.3", Optional.empty());
    }

    private static MachineGpus.Nic nic(MachineGpus found) {
        return Objects.requireNonNull(found.nics().get("mlx5_0"));
    }

    private GpuPath nearest() {
        return nic(MachineGpus.of(machine())).gpus().getFirst();
    }

    @Test
    void gpusAreSortedByTheirDistanceFromTheNic() {
        MachineGpus found = MachineGpus.of(machine());

        assertThat(found.gpus())
                .extracting(MachineGpus.Gpu::function)
                .containsExactly("0000:04:00.0", "0000:05:00.0", "0000:81:00.0");
        assertThat(found.gpu("0000:04:00.0").model()).contains("NVIDIA H100 80GB HBM3");
        assertThat(found.nics()).containsOnlyKeys("mlx5_0");
        assertThat(nic(found).gpus())
                .extracting(GpuPath::gpu, GpuPath::distance)
                .containsExactly(
                        tuple("0000:04:00.0", PciDistance.PIX),
                        tuple("0000:05:00.0", PciDistance.PHB),
                        tuple("0000:81:00.0", PciDistance.SYS));
    }

    @Test
    void accessControlIsReadAtThePortsBetweenTheTwo() throws IOException {
        assertThat(nearest().accessControl()).as("no file").contains(AccessControl.UNKNOWN);

        configuration(NIC_PORT, 0, 4096);
        configuration(SWITCH + "0000:02:01.0", 0b1, 4096); // source validation alone redirects nothing
        assertThat(nearest().accessControl()).contains(AccessControl.OFF);

        configuration(NIC_PORT, 0b1_1101, 4096);
        assertThat(nearest().accessControl()).contains(AccessControl.REDIRECTS);

        configuration(NIC_PORT, 0b1_1101, 64);
        assertThat(nearest().accessControl()).as("what users may read").contains(AccessControl.UNKNOWN);

        configuration(NIC_PORT, 0b1_1101, 256);
        assertThat(nearest().accessControl()).as("without PCIe's capabilities").contains(AccessControl.OFF);
    }

    @Test
    void driversAndIommuAreAsTheKernelSays() throws IOException {
        assertThat(MachineGpus.of(machine()).driver()).isEmpty();

        write("proc/driver/nvidia/version", """
            NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build
            GCC version:  gcc version 13.3.0
            """);
        write(NEAR + "/iommu_group/type", "DMA-FQ\n");
        assertThat(MachineGpus.of(machine()).driver()).contains(new MachineGpus.Driver("580.95.05", true));
        assertThat(MachineGpus.of(machine()).gpu("0000:04:00.0").iommu()).contains("DMA-FQ");

        write("proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.183.06  Wed\n");
        assertThat(MachineGpus.of(machine()).driver()).contains(new MachineGpus.Driver("535.183.06", false));
    }

    /** The numbers are those of a Strix Halo, whose GPU is a display controller; KFD has its processor, too. */
    @Test
    void amdsGpusAreThoseOfMachinesWithoutNvidias() throws IOException {
        String function = "sys/devices/pci0000:00/0000:00:08.1/0000:c5:00.0";
        function(function, 0, "0x1002", "0x038000");
        write("sys/class/kfd/kfd/topology/nodes/0/properties", "cpu_cores_count 32\ngfx_target_version 0\n");
        write(
                "sys/class/kfd/kfd/topology/nodes/1/properties",
                "simd_count 80\ngfx_target_version 110501\nlocation_id 50432\ndomain 0\nbroken\nx -\n");
        assertThat(MachineGpus.of(machine()).gpus()).hasSize(3).noneMatch(MachineGpus.Gpu::isOfAmd);

        for (Path each : Machine.entries(root.resolve("sys/bus/pci/devices"))) {
            if (Machine.line(each.resolve("vendor")).equals(Optional.of("0x10de"))) {
                Files.delete(each);
            }
        }
        assertThat(MachineGpus.of(machine()).gpus()).singleElement().satisfies(gpu -> {
            assertThat(gpu.function()).isEqualTo("0000:c5:00.0");
            assertThat(gpu.vendor()).contains(GpuVendor.AMD);
            assertThat(gpu.model()).contains("gfx1151");
            assertThat(gpu.sharesMemory()).isTrue();
        });
        assertThat(Run.of(machine(), 80, "links").out())
                .containsPattern("mlx5_0 +0000:c5:00.0 +PHB .*gfx1151")
                .contains("Trigon offers RCCL no memory of GPUs")
                .doesNotContain("DGX Spark");
        assertThat(JsonObject.parse(Run.of(machine(), 80, "links", "--json").out())
                        .objects("gpus"))
                .singleElement()
                .satisfies(gpu -> assertThat(gpu.text("vendor")).isEqualTo("AMD"));

        write("sys/class/kfd/kfd/topology/nodes/1/properties", "gfx_target_version 90010\nlocation_id 50432\n");
        assertThat(MachineGpus.of(machine()).gpu("0000:c5:00.0").model()).contains("gfx90a");
    }

    @Test
    void linksShowsThemInTextAndJson() throws IOException {
        assertThat(Run.of(machine(), 80, "links").out())
                .contains("From NICs to GPUs")
                .containsPattern("mlx5_0 +0000:04:00.0 +PIX +unknown +none +NVIDIA H100")
                .containsPattern("mlx5_0 +0000:81:00.0 +SYS +- +none +-")
                .doesNotContain("DGX Spark");
        JsonObject json =
                JsonObject.parse(Run.of(machine(), 80, "links", "--json").out());
        assertThat(json.objects("gpus")).hasSize(3);
        assertThat(json.object("gpuNics").object("mlx5_0").objects("gpus"))
                .first()
                .satisfies(way -> assertThat(way.text("distance")).isEqualTo("PIX"));

        for (String gpu : new String[] {"0000:04:00.0", "0000:05:00.0", "0000:81:00.0"}) {
            write("proc/driver/nvidia/gpus/" + gpu + "/information", "Model: NVIDIA GB10\n");
        }
        assertThat(Run.of(machine(), 80, "links").out()).contains("DGX Spark");
    }
}
