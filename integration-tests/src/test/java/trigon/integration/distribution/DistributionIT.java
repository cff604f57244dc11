package trigon.integration.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import trigon.integration.testsupport.HostProgram;
import trigon.integration.testsupport.Triangle;

/** The distribution as a folder that is put somewhere and used with whatever settings. */
@Timeout(300)
class DistributionIT {

    @TempDir
    Path directory;

    @Test
    void worksWhereItIsMovedTo() throws IOException {
        Path moved = directory.resolve("a folder with spaces");
        copy(HostProgram.distribution(), moved);

        Map<String, String> logs = Triangle.of(directory, moved, 0).run("--bytes", "4096");

        assertThat(logs).hasSize(3);
    }

    /**
     * In the C locale, and in one that is not installed, a JVM takes names for ASCII. By a shell, since the JVM of this
     * test may do so, too. And with an agent for other Java programs, as platforms set it.
     */
    @Test
    void worksInAFolderWithAnyNameInAContainersEnvironment() throws Exception {
        String script = """
                set -eu
                home=$1/$(printf 'gr\\303\\274n')
                mkdir "$home" "$1/meet"
                cp -a "$2/bin" "$2/lib" "$2/jars" "$2/tools" "$home"
                ln -s "$2/runtime" "$2/libexec" "$home"
                printf 'version: 1\\nlinks: software\\n' >"$home/all.yaml"
                export JAVA_TOOL_OPTIONS=-javaagent:/nowhere.jar JDK_JAVA_OPTIONS=-Xnonsense
                export LC_ALL=xx_XX.UTF-8
                TRIGON_CONFIG=$home/all.yaml "$home/libexec/nccl-host" --rendezvous "$1/meet" \
                    --plugin "$home/lib/libnccl-net-trigon.so" --ranks 2 --local-ranks 2
                export LC_ALL=C
                TRIGON_CONFIG=$home/all.yaml "$home/bin/trigon" links || :
                exec "$home/bin/trigon" demo --iterations 2
                """;
        Process demo = new ProcessBuilder(
                        "bash",
                        "-c",
                        script,
                        "bash",
                        directory.toString(),
                        HostProgram.distribution().toString())
                .redirectErrorStream(true)
                .start();
        String output = new String(demo.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

        assertThat(demo.waitFor()).as(output).isZero();
        assertThat(output)
                .contains("Every element was right on every rank")
                .contains("trigon: JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS: ignored")
                .doesNotContain("must be a path", "Picked up");
    }

    @Test
    @Tag("long")
    void bearsEverythingNcclDoesAtTheBorder() {
        for (int api = 8; api <= 12; api++) {
            Path log = directory.resolve("contract-" + api + ".log");
            try (HostProgram host = new HostProgram(
                    HostProgram.distribution(), log, Map.of(), "--mode", "contract", "--api", Integer.toString(api))) {
                assertThat(host.exitStatus())
                        .as("API %d: %s", api, host.output())
                        .isZero();
            }
        }
    }

    @Test
    void aWrongSettingIsNamedAndTheHostLives() throws IOException {
        Path file = Files.writeString(directory.resolve("wrong.yaml"), "version: 1\nlink: rdma\nnodes:\n");
        try (HostProgram host = new HostProgram(
                HostProgram.distribution(), directory.resolve("wrong.log"), Map.of("TRIGON_CONFIG", file.toString()))) {
            assertThat(host.exitStatus()).isEqualTo(1);
            assertThat(host.output())
                    .contains(file.toString())
                    .contains("wrong.yaml:2:")
                    .contains("link")
                    .contains("init returned 5");
        }
    }

    @Test
    void requiringRdmaWithoutADeviceIsAnErrorThatSaysWhatToDo() {
        try (HostProgram host = new HostProgram(
                HostProgram.distribution(), directory.resolve("rdma.log"), Map.of("TRIGON_LINKS", "rdma"))) {
            assertThat(host.exitStatus()).isEqualTo(1);
            assertThat(host.output()).contains("no RDMA link").contains("TRIGON_LINKS");
        }
    }

    private static void copy(Path from, Path to) throws IOException {
        Files.walkFileTree(from, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) throws IOException {
                Files.createDirectories(to.resolve(from.relativize(folder)));
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                Files.copy(file, to.resolve(from.relativize(file)), StandardCopyOption.COPY_ATTRIBUTES);
                return FileVisitResult.CONTINUE;
            }
        });
    }
}
