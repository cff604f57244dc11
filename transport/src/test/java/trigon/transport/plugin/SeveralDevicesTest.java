package trigon.transport.plugin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import trigon.config.setting.ConfigException;
import trigon.nccl.DeviceProperties;
import trigon.nccl.NetPlugin;
import trigon.nccl.NoConnectionException;
import trigon.routing.LocalLink;
import trigon.routing.hardware.NicHardware;
import trigon.testsupport.Await;
import trigon.transport.testsupport.Connected;
import trigon.transport.testsupport.TestNode;

/** Nodes of two GPUs, each with a NIC of its own, as NCCL sees them. */
@Timeout(180)
class SeveralDevicesTest {

    @TempDir
    @SuppressWarnings("NullAway.Init")
    Path sysfs;

    @BeforeEach
    void makeMachine() throws IOException {
        for (int i = 0; i < 2; i++) {
            Path gpu = function("pci0000:%d0/0000:%d0:01.0/0000:%d1:00.0".formatted(i, i, i));
            Files.writeString(gpu.resolve("vendor"), "0x10de\n");
            Files.writeString(gpu.resolve("class"), "0x030200\n");
            Path devices = Files.createDirectories(sysfs.resolve("bus/pci/devices"));
            Files.createSymbolicLink(devices.resolve(gpu.getFileName()), gpu);
            Path nic = function("pci0000:%d0/0000:%d0:02.0/0000:%d2:00.0".formatted(i, i, i));
            Files.createSymbolicLink(nic.resolve("subsystem"), sysfs.resolve("bus/pci"));
            Path device = Files.createDirectories(sysfs.resolve("class/infiniband/roce" + (31 + i)));
            Files.createSymbolicLink(device.resolve("device"), nic);
        }
    }

    private Path function(String path) throws IOException {
        Path function = Files.createDirectories(sysfs.resolve("devices").resolve(path));
        Files.writeString(function.resolve("numa_node"), path.charAt(8) + "\n");
        return function;
    }

    private static List<LocalLink> links(int host) {
        return IntStream.of(31, 32)
                .mapToObj(net -> TestNode.rdmaLink("127.1.%d.%d/24".formatted(net, host)))
                .toList();
    }

    private TestNode node(String name, int host, int count) throws IOException {
        Path file = Files.writeString(sysfs.resolve(name + ".yaml"), "version: 1\ndevices: %d\n".formatted(count));
        return new TestNode(name, links(host), Map.of("TRIGON_CONFIG", file.toString()), new NicHardware(sysfs));
    }

    private List<VirtualDevice> devices(int count) {
        return VirtualDevices.ofGroups(count, "a", links(1), new NicHardware(sysfs));
    }

    @Test
    void eachGroupOfNicsIsADevice() {
        List<VirtualDevice> devices = devices(2);

        assertThat(devices)
                .extracting(VirtualDevice::preferred)
                .containsExactly(Set.of(links(1).getFirst()), Set.of(links(1).getLast()));
        assertThat(devices).extracting(VirtualDevice::properties).allSatisfy(each -> {
            assertThat(each.speedMbps()).isEqualTo(TestNode.RDMA_MBPS);
            assertThat(each.pointerSupport()).isEqualTo(DeviceProperties.POINTER_HOST);
        });
        assertThat(devices).map(each -> each.properties().guid()).doesNotHaveDuplicates();
        assertThat(devices.getFirst().properties().pciPath()).endsWith("pci0000:00/0000:00:02.0/0000:02:00.0");
        assertThat(devices.getLast().properties().pciPath()).endsWith("pci0000:10/0000:10:02.0/0000:12:00.0");
    }

    /** Its speed is the constant of decision 39, whatever NICs there are. */
    @Test
    void oneDeviceSaysTheSameOnAllNodes() {
        DeviceProperties one = devices(1).getFirst().properties();

        assertThat(one.speedMbps()).isEqualTo(39_000);
        assertThat(one.pciPath()).isEmpty();
    }

    @Test
    void moreThanThereAreGroupsIsAnError() {
        assertThatExceptionOfType(ConfigException.class)
                .isThrownBy(() -> devices(3))
                .withMessageContainingAll("devices is 3", "near to some of its GPUs make 2 groups", "roce31", "roce32");
    }

    /** From either device to either one: a preference of the sender's NIC, and no more. */
    @Test
    void anyTwoDevicesConnect() throws IOException {
        try (TestNode a = node("a", 1, 2);
                TestNode b = node("b", 2, 2)) {
            assertThat(a.plugin.devices()).isEqualTo(2);
            for (int from = 0; from < 2; from++) {
                for (int to = 0; to < 2; to++) {
                    new Connected(a, from, b, to).sendOne(100_000);
                }
            }
        }
    }

    @Test
    void unlikeNumbersAreRefusedOnBothSides() throws IOException {
        try (TestNode a = node("a", 1, 1);
                TestNode b = node("b", 2, 2)) {
            long handle = b.allocate(NetPlugin.HANDLE_BYTES);
            long listenComm = b.plugin.listen(b.context, 0, handle);

            assertThatThrownBy(() -> Await.until(
                            "a hears of it",
                            () -> a.plugin.connect(a.context, 0, handle, NetPlugin.TRAFFIC_CLASS_UNDEFINED) != 0))
                    .isInstanceOf(NoConnectionException.class)
                    .hasMessageContainingAll("devices is 2 on b and 1 on a");
            assertThatThrownBy(() -> Await.until("b hears of it", () -> b.plugin.accept(listenComm) != 0))
                    .isInstanceOf(NoConnectionException.class)
                    .hasMessageContaining("devices is 2 on b and 1 on a");
        }
    }
}
