package trigon.integration.nccl;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import trigon.integration.testsupport.CableNamespaces;
import trigon.integration.testsupport.NamespaceJob;

/** Two nodes with two cables, each from a NIC that is near to another GPU, as a made {@code /sys} says. */
@Timeout(300)
class SeveralDevicesIT {

    /** Without what the kernel says of the real machine. */
    private static final String WITH_MADE_HARDWARE = """
            mount --bind "$0/bus/pci/devices" /sys/bus/pci/devices && mount --bind "$0/class/net" /sys/class/net &&
            exec "$@"
            """;

    @TempDir
    private Path directory;

    private Path sysfs;

    @BeforeEach
    void makeMachine() throws IOException {
        sysfs = directory.resolve("sys");
        Files.createDirectories(sysfs.resolve("bus/pci/devices"));
        for (int i = 0; i < 2; i++) {
            Path gpu = function("pci0000:%d0/0000:%d0:01.0/0000:%d1:00.0".formatted(i, i, i), i);
            Files.writeString(gpu.resolve("vendor"), "0x10de\n");
            Files.writeString(gpu.resolve("class"), "0x030200\n");
            Files.createSymbolicLink(sysfs.resolve("bus/pci/devices").resolve(gpu.getFileName()), gpu);
            Path nic = function("pci0000:%d0/0000:%d0:02.0/0000:%d2:00.0".formatted(i, i, i), i);
            Files.createSymbolicLink(nic.resolve("subsystem"), sysfs.resolve("bus/pci"));
            for (String end : List.of("toA", "toB")) {
                Path face = Files.createDirectories(sysfs.resolve("class/net/" + end + i));
                Files.createSymbolicLink(face.resolve("device"), nic);
                Files.writeString(face.resolve("operstate"), "up\n");
                Files.writeString(face.resolve("speed"), "10000\n");
            }
        }
    }

    private Path function(String path, int numaNode) throws IOException {
        Path function = Files.createDirectories(sysfs.resolve("devices").resolve(path));
        Files.writeString(function.resolve("numa_node"), numaNode + "\n");
        return function;
    }

    private NamespaceJob job(CableNamespaces network) throws IOException {
        network.node("a");
        network.node("b");
        network.cable("a", "toB0", "10.9.61.1/24", "b", "toA0", "10.9.61.2/24");
        network.cable("a", "toB1", "10.9.62.1/24", "b", "toA1", "10.9.62.2/24");
        Path file = Files.writeString(directory.resolve("trigon.yaml"), """
                version: 1
                links: software
                devices: 2
                nodes:
                  a: {nics: [{address: 10.9.61.1/24}, {address: 10.9.62.1/24}]}
                  b: {nics: [{address: 10.9.61.2/24}, {address: 10.9.62.2/24}]}
                """);
        return new NamespaceJob(
                node -> {
                    List<String> command = new ArrayList<>(network.by(node));
                    command.addAll(List.of("sh", "-c", WITH_MADE_HARDWARE, sysfs.toString()));
                    return command;
                },
                directory,
                Map.of("TRIGON_CONFIG", file.toString()),
                List.of("a", "b"),
                "--verbose");
    }

    @Test
    void eachDeviceUsesItsNicAndFailsOverToTheOther() throws Exception {
        try (CableNamespaces network = CableNamespaces.open();
                NamespaceJob job = job(network)) {
            job.awaitRounds(10);
            network.set("a", "toB1", false);
            job.awaitRounds(10);
            job.end();

            assertThat(job.ranks().getFirst().output())
                    .contains("device 1: trigon1, pci " + sysfs)
                    .containsPattern("sends to b \\S+ via toB0 ")
                    .containsPattern("sends to b \\S+ via toB1 ");
        }
    }
}
