package trigon.transport.plugin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import trigon.config.setting.ConfigException;
import trigon.config.setting.GpuMemoryUse;
import trigon.nccl.DeviceProperties;
import trigon.routing.LocalLink;
import trigon.routing.hardware.NicHardware;
import trigon.transport.metrics.Metrics;
import trigon.transport.path.Links;
import trigon.transport.testsupport.ReadingVerbs;
import trigon.verbs.DeviceMemory;
import trigon.verbs.LinkKind;

/** What NCCL sees of NICs that reach memory of GPUs, and of those that do not. */
class GpuDevicesTest {

    private static final int HOST_AND_DMA_BUF = DeviceProperties.POINTER_HOST | DeviceProperties.POINTER_DMA_BUF;
    private static final LocalLink ONE = ReadingVerbs.link("mlx5_0", LinkKind.RDMA, 1);
    private static final LocalLink SAME_NIC = ReadingVerbs.link("mlx5_0", LinkKind.RDMA, 2);
    private static final LocalLink TWO = ReadingVerbs.link("mlx5_1", LinkKind.RDMA, 3);
    private static final LocalLink TCP = ReadingVerbs.link("soft_eth2", LinkKind.SOFTWARE, 4);

    @TempDir
    private Path sysfs;

    private String withoutLoopback = "";
    private Optional<String> noGpus = Optional.empty();

    private final ReadingVerbs verbs = new ReadingVerbs();
    private final Metrics metrics = Metrics.unshared();
    private final Links links =
            Links.open(List.of(), Map.of(LinkKind.RDMA, verbs, LinkKind.SOFTWARE, verbs), 4096, metrics);

    @AfterEach
    void close() {
        links.close();
        metrics.close();
    }

    private List<VirtualDevice> devices(GpuMemoryUse use, LocalLink... of) {
        Arrays.stream(of).forEach(links::add);
        return VirtualDevice.withGpuMemory(
                use,
                noGpus,
                "a",
                links.all(),
                new NicHardware(sysfs),
                link -> !link.device().deviceName().equals(withoutLoopback));
    }

    private void functionOf(String device, String function) throws IOException {
        Path bus = Files.createDirectories(sysfs.resolve("bus/pci"));
        Path at = Files.createDirectories(sysfs.resolve("devices/pci0000:80").resolve(function));
        Files.createSymbolicLink(at.resolve("subsystem"), bus);
        Path ofDevice =
                Files.createDirectories(sysfs.resolve("class/infiniband").resolve(device));
        Files.createSymbolicLink(ofDevice.resolve("device"), at);
    }

    @Test
    void thereIsOneForEachNic() throws IOException {
        functionOf("mlx5_0", "0000:81:00.0");
        functionOf("mlx5_1", "0000:82:00.0");

        List<VirtualDevice> devices = devices(GpuMemoryUse.AUTO, ONE, SAME_NIC, TWO);

        assertThat(devices).extracting(VirtualDevice::preferred).containsExactly(Set.of(ONE), Set.of(TWO));
        assertThat(devices)
                .extracting(VirtualDevice::properties)
                .allSatisfy(each -> {
                    assertThat(each.pointerSupport()).isEqualTo(HOST_AND_DMA_BUF);
                    assertThat(each.speedMbps()).isEqualTo(100_000);
                })
                .extracting(DeviceProperties::name)
                .containsExactly("trigon0", "trigon1");
        assertThat(devices.get(0).properties().pciPath()).endsWith("/pci0000:80/0000:81:00.0");
        assertThat(devices.get(1).properties().pciPath()).endsWith("/pci0000:80/0000:82:00.0");
        assertThat(devices.get(0).properties().guid())
                .isNotEqualTo(devices.get(1).properties().guid());
    }

    @Test
    void peerMemoryIsToldApart() {
        verbs.memory = new DeviceMemory(false, true, "");

        assertThat(devices(GpuMemoryUse.ON, ONE).getFirst().properties().pointerSupport())
                .isEqualTo(DeviceProperties.POINTER_HOST | DeviceProperties.POINTER_CUDA);
    }

    @Test
    void thereIsNoneWhereNobodyWantsIt() {
        assertThat(devices(GpuMemoryUse.OFF, ONE, TWO)).isEmpty();
    }

    /** NCCL decides before it knows over which link its peer is reached. */
    @Test
    void oneLinkWithoutRdmaIsEnoughToLeaveIt() {
        assertThat(devices(GpuMemoryUse.AUTO, ONE, TCP)).isEmpty();
    }

    @Test
    void whoWantsItMayHaveOtherLinks() {
        assertThat(devices(GpuMemoryUse.ON, ONE, TCP))
                .hasSize(1)
                .allSatisfy(
                        each -> assertThat(each.properties().pointerSupport()).isEqualTo(HOST_AND_DMA_BUF));
    }

    @Test
    void aNicThatDoesNotReachItIsEnoughToLeaveIt() {
        verbs.memory = DeviceMemory.unreachable("the driver is too old");

        assertThat(devices(GpuMemoryUse.AUTO, ONE)).isEmpty();
    }

    @Test
    void aNicThatPassesNothingToItselfIsEnoughToLeaveIt() {
        withoutLoopback = "mlx5_1";

        assertThat(devices(GpuMemoryUse.AUTO, ONE, TWO)).isEmpty();
    }

    @Test
    void whoWantsItHearsWhyNot() {
        verbs.memory = DeviceMemory.unreachable("the driver is too old");

        assertThatExceptionOfType(ConfigException.class)
                .isThrownBy(() -> devices(GpuMemoryUse.ON, ONE))
                .withMessage("gpuMemory is on, but mlx5_0 does not reach it: the driver is too old");
    }

    /** As under RCCL, whichever memory the NICs reach. */
    @Test
    void gpusThatNicsMustLeaveAloneAreLeftAlone() {
        noGpus = Optional.of("nobody could flush");

        assertThat(devices(GpuMemoryUse.AUTO, ONE)).isEmpty();
        assertThatExceptionOfType(ConfigException.class)
                .isThrownBy(() -> devices(GpuMemoryUse.ON, ONE))
                .withMessage("gpuMemory is on, but nobody could flush");
    }

    @Test
    void whoWantsItNeedsRdma() {
        assertThatExceptionOfType(ConfigException.class)
                .isThrownBy(() -> devices(GpuMemoryUse.ON, TCP))
                .withMessage("gpuMemory is on, but there is no RDMA link");
    }
}
