package trigon.verbs.ffm;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import trigon.verbs.Gid;
import trigon.verbs.GidEntry;

class SysfsTest {

    @TempDir
    Path folder;

    @Test
    void bypassesTheKernelWithAnHcaDriver() throws Exception {
        device("mlx5_0", "mlx5_core");
        device("rocep1s0", "bnxt_en");

        assertThat(new Sysfs(folder).bypassesKernel("mlx5_0")).isTrue();
        assertThat(new Sysfs(folder).bypassesKernel("rocep1s0")).isTrue();
    }

    @Test
    void entersTheKernelWithAnUnknownDriverOrNone() throws Exception {
        device("new_0", "new_driver");
        Files.createDirectories(devices().resolve("rxe_ab"));

        Sysfs sysfs = new Sysfs(folder);
        assertThat(sysfs.bypassesKernel("new_0")).isFalse();
        assertThat(sysfs.bypassesKernel("rxe_ab")).isFalse();
        assertThat(sysfs.bypassesKernel("absent")).isFalse();
    }

    @Test
    void listsTheDevicesOfTheKernel() throws Exception {
        device("mlx5_1", "mlx5_core");
        device("mlx5_0", "mlx5_core");

        assertThat(new Sysfs(folder).deviceNames()).containsExactly("mlx5_0", "mlx5_1");
        assertThat(new Sysfs(folder.resolve("absent")).deviceNames()).isEmpty();
    }

    @Test
    void readsTheSpeedThatTheKernelWrites() throws Exception {
        rate("mlx5_0", "800 Gb/sec (4X XDR)\n");
        rate("mlx5_1", "2.5 Gb/sec (1X SDR)\n");
        rate("mlx5_2", "fast\n");

        Sysfs sysfs = new Sysfs(folder);
        assertThat(sysfs.megabitsPerSecond("mlx5_0", 1)).isEqualTo(800_000);
        assertThat(sysfs.megabitsPerSecond("mlx5_1", 1)).isEqualTo(2_500);
        assertThat(sysfs.megabitsPerSecond("mlx5_2", 1)).isZero();
        assertThat(sysfs.megabitsPerSecond("absent", 1)).isZero();
    }

    @Test
    void readsAGidTableWithHoles() throws Exception {
        gid("mlx5_0", 0, "fe80:0000:0000:0000:021b:21ff:fe00:0001", "IB/RoCE v1");
        gid("mlx5_0", 1, "0000:0000:0000:0000:0000:0000:0000:0000", null);
        gid("mlx5_0", 2, "0000:0000:0000:0000:0000:ffff:0a00:0101", null);
        gid("mlx5_0", 3, "0000:0000:0000:0000:0000:ffff:0a00:0102", "RoCE v2");
        Path port = devices().resolve("mlx5_0", "ports", "1");
        Files.createDirectories(port.resolve("gid_attrs/ndevs"));
        Files.writeString(port.resolve("gid_attrs/ndevs/3"), "eth7\n");
        Files.createDirectories(folder.resolve("class/net/eth7"));
        Files.writeString(folder.resolve("class/net/eth7/ifindex"), "12\n");

        Gid linkLocal = Gid.of(InetAddress.ofLiteral("fe80::21b:21ff:fe00:1"));
        Gid address = Gid.of(InetAddress.ofLiteral("10.0.1.2"));
        assertThat(new Sysfs(folder).gidTable("mlx5_0", 1))
                .containsExactly(
                        new GidEntry(0, linkLocal, GidEntry.Type.INFINIBAND, 0),
                        new GidEntry(3, address, GidEntry.Type.ROCE_V2, 12));
        Files.writeString(port.resolve("link_layer"), "Ethernet\n");
        assertThat(new Sysfs(folder).gidTable("mlx5_0", 1).getFirst().type()).isEqualTo(GidEntry.Type.ROCE_V1);
        assertThat(new Sysfs(folder).gidTable("absent", 1)).isEmpty();
    }

    private void gid(String device, int index, String gid, @Nullable String type) throws Exception {
        Path port = devices().resolve(device, "ports", "1");
        Path types = Files.createDirectories(port.resolve("gid_attrs/types"));
        Files.writeString(Files.createDirectories(port.resolve("gids")).resolve("" + index), gid + "\n");
        if (type != null) {
            Files.writeString(types.resolve("" + index), type + "\n");
        }
    }

    @Test
    void knowsTheModulesForPeerMemory() throws Exception {
        assertThat(new Sysfs(folder).hasPeerMemory()).isFalse();

        Files.createFile(
                Files.createDirectories(folder.resolve("module/nvidia_peermem")).resolve("version"));

        assertThat(new Sysfs(folder).hasPeerMemory()).isTrue();
    }

    private void rate(String device, String rate) throws Exception {
        Path port = Files.createDirectories(devices().resolve(device, "ports", "1"));
        Files.writeString(port.resolve("rate"), rate);
    }

    private Path devices() {
        return folder.resolve("class/infiniband");
    }

    private void device(String name, String driver) throws Exception {
        Path drivers = Files.createDirectories(folder.resolve("drivers").resolve(driver));
        Path bus = Files.createDirectories(devices().resolve(name).resolve("device"));
        Files.createSymbolicLink(bus.resolve("driver"), drivers);
    }
}
