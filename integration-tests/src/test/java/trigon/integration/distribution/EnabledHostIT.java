package trigon.integration.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import trigon.cluster.machine.Machine;
import trigon.integration.testsupport.HostProgram;
import trigon.tools.Run;

/** A job that no variable tells of Trigon: the program reads NCCL's files as NCCL does. */
@Timeout(240)
class EnabledHostIT {

    @TempDir
    private Path root = Path.of("/nonexistent"); // until JUnit has set it

    private HostProgram host(Path home, String log) throws Exception {
        return HostProgram.enabled(
                Map.of("HOME", home.toString()),
                root.resolve(log),
                "--ranks",
                "2",
                "--local-ranks",
                "2",
                "--rendezvous",
                Files.createDirectory(root.resolve("meet-" + log)).toString());
    }

    @Test
    void theFilesThatEnableWritesAreAllThatAJobNeeds() throws Exception {
        Path home = Files.createDirectories(root.resolve("home"));
        Path settings = Files.createDirectories(root.resolve("etc/trigon"));
        Path key = Files.writeString(settings.resolve("cluster.key"), "k".repeat(64));
        Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-------"));
        Files.writeString(settings.resolve("cluster.yaml"), "version: 1\nlinks: software\n");
        Path distribution = HostProgram.distribution().toRealPath();
        Machine machine =
                new Machine(root, Map.of("HOME", home.toString()), "here", "1.2.3", Optional.of(distribution));

        Run enabled = Run.of(machine, 500, "enable", "--user", "--required");
        assertThat(enabled.status()).as(enabled.err()).isZero();
        try (HostProgram host = host(home, "enabled")) {
            assertThat(host.exitStatus()).as(host.output()).isZero();
            assertThat(host.output())
                    .contains("NET/Trigon : Trigon", " 0 wrong", "links: software", "cluster.yaml", key.toString());
        }

        assertThat(Run.of(machine, 500, "disable", "--user").status()).isZero();
        assertThat(home).isEmptyDirectory();
        try (HostProgram host = host(home, "disabled")) {
            assertThat(host.exitStatus()).isNotZero();
            assertThat(host.output()).contains("needs --plugin or NCCL_NET_PLUGIN");
        }
    }
}
