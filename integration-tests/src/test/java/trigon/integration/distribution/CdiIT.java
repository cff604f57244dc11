package trigon.integration.distribution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceLock;
import trigon.integration.testsupport.HostProgram;

/** A container of Podman whose only word of Trigon is the description that {@code trigon enable --cdi} writes. */
@Timeout(240)
@ResourceLock("containers")
class CdiIT {

    private static final int SECONDS = 180;

    /** With an /etc of its own; the container has none of this machine's files but /usr. */
    private static final String PLAY = """
            set -eu
            mount --make-rprivate /
            mkdir -p etc root/usr root/etc root/tmp root/proc root/dev
            cp -a /etc/. etc
            mount --bind etc /etc
            "$1/bin/trigon" enable --system --cdi --required
            for folder in bin sbin lib lib64; do
              ln -s usr/$folder root/$folder
            done
            exec podman --runtime runc --root "$PWD/storage" --runroot "$PWD/run" --cgroup-manager cgroupfs \\
              --events-backend none run --rm --network host --ulimit nofile=1024:1024 --ulimit nproc=1000:1000 \\
              --env NCCL_DEBUG=INFO --tmpfs /tmp --volume /usr:/usr:ro --device trigon.dev/net=all \\
              --rootfs "$PWD/root" "$1/libexec/nccl-host" --ranks 2 --local-ranks 2 --rendezvous /tmp
            """;

    @TempDir
    private Path folder = Path.of("/nonexistent"); // until JUnit has set it

    @Test
    void theDescriptionIsAllThatAContainerNeeds() throws Exception {
        boolean possible = succeeds("sh", "-c", "command -v podman && command -v runc && unshare --mount true");
        if ("required".equals(System.getenv("TRIGON_CONTAINERS"))) {
            assertThat(possible).as("root, podman and runc").isTrue();
        }
        assumeTrue(possible, "Podman's containers need root, podman and runc");

        String distribution = HostProgram.distribution().toRealPath().toString();
        boolean succeeded = succeeds("unshare", "--mount", "sh", "-c", PLAY, "play", distribution);

        String output = Files.readString(folder.resolve("output"));
        assertThat(succeeded).as(output).isTrue();
        assertThat(output).contains("etc/cdi/trigon.yaml: written", "NET/Trigon", " 0 wrong");
    }

    private boolean succeeds(String... command) throws Exception {
        Process process = new ProcessBuilder(List.of(command))
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("output").toFile())
                .start();
        try {
            return process.waitFor(SECONDS, TimeUnit.SECONDS) && process.exitValue() == 0;
        } finally {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
    }
}
