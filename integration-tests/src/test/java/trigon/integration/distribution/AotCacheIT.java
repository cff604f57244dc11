package trigon.integration.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import trigon.integration.testsupport.HostProgram;

/** The distribution's AOT cache: used where it belongs, wherever that is, and never in the way. */
@Timeout(300)
class AotCacheIT {

    /** A class of Trigon's that every start needs. */
    private static final String CLASS = "trigon.transport.plugin.RoutedNetPlugin";

    @TempDir
    Path directory;

    private Path installation;
    private Path cache;
    private Path loaded;

    /** An installation at another place, with files that are newer than those that the cache was made for. */
    @BeforeEach
    void install() throws IOException {
        installation = Files.createDirectory(directory.resolve("an installation"));
        cache = installation.resolve("lib/trigon.aot");
        loaded = directory.resolve("loaded.txt");
        Path distribution = HostProgram.distribution();
        for (String folder : List.of("lib", "jars")) {
            copyFiles(distribution.resolve(folder), Files.createDirectory(installation.resolve(folder)));
        }
        for (String folder : List.of("runtime", "libexec")) {
            Files.createSymbolicLink(installation.resolve(folder), distribution.resolve(folder));
        }
    }

    private static void copyFiles(Path from, Path to) throws IOException {
        try (Stream<Path> files = Files.list(from)) {
            for (Path file : files.toList()) {
                Files.copy(file, to.resolve(file.getFileName()));
            }
        }
    }

    /** Starts the plugin, moves messages, and returns the log. */
    private String run() {
        Map<String, String> environment =
                Map.of("TRIGON_LINKS", "software", "TRIGON_JAVA_OPTS", "'-Xlog:class+load:file=" + loaded + "'");
        try (HostProgram host =
                new HostProgram(installation, directory.resolve("host.log"), environment, "--bytes", "4096")) {
            assertThat(host.exitStatus()).as(host.output()).isZero();
            return host.output();
        }
    }

    /** Where the JVM says that it has the class from. */
    private String sourceOfClass() throws IOException {
        return Files.readAllLines(loaded).stream()
                .filter(line -> line.contains(CLASS + " source: "))
                .findFirst()
                .orElseThrow(() -> new AssertionError(CLASS + " was not loaded"));
    }

    @Test
    void isUsedWhereTheDistributionIsCopiedTo() throws IOException {
        assertThat(run()).doesNotContain("trigon.aot");
        assertThat(sourceOfClass()).contains("shared objects file");
    }

    @Test
    @Tag("long")
    void isLeftAloneWhenItIsDamaged() throws IOException {
        try (FileChannel file = FileChannel.open(cache, StandardOpenOption.WRITE)) {
            file.write(ByteBuffer.wrap(new byte[] {1, 2, 3, 4, 5, 6, 7, 8}), file.size() / 2);
        }

        assertThat(run()).contains(cache + " is not used").contains("it is damaged");
        assertThat(sourceOfClass()).contains("jars/trigon-transport");
    }

    @Test
    @Tag("long")
    void isLeftAloneWhenItIsCutOff() throws IOException {
        try (FileChannel file = FileChannel.open(cache, StandardOpenOption.WRITE)) {
            file.truncate(file.size() / 2);
        }

        assertThat(run()).contains("it is damaged");
        assertThat(sourceOfClass()).contains("jars/trigon-transport");
    }

    @Test
    @Tag("long")
    void isLeftAloneWhenAJarIsAnotherOne() throws IOException {
        Path jar = installation.resolve("jars/another.jar");
        try (Stream<Path> jars = Files.list(installation.resolve("jars"))) {
            Files.copy(
                    jars.filter(each -> each.toString().contains("jspecify"))
                            .findFirst()
                            .orElseThrow(),
                    jar);
        }

        assertThat(run()).contains(cache + " is not used").contains("made for other jars");
        assertThat(sourceOfClass()).contains("jars/trigon-transport");
    }

    @Test
    @Tag("long")
    void isLeftAloneWithoutItsBinding() throws IOException {
        Files.writeString(installation.resolve("lib/trigon.aot.binding"), "nonsense");

        assertThat(run()).contains("trigon.aot.binding beside it is missing or damaged");
        assertThat(sourceOfClass()).contains("jars/trigon-transport");
    }

    @Test
    void needNotBeThere() throws IOException {
        Files.delete(cache);

        assertThat(run()).contains("starting without an AOT cache").contains("trigon.aot");
        assertThat(sourceOfClass()).contains("jars/trigon-transport");
    }

    @Test
    @Tag("long")
    void isRefusedByAnotherJvmWhichStartsWithoutIt() throws IOException {
        Files.delete(installation.resolve("runtime"));
        Files.createSymbolicLink(installation.resolve("runtime"), Path.of(System.getProperty("java.home")));

        assertThat(run()).contains("the JVM says").contains("AOT cache");
        assertThat(sourceOfClass()).contains("jars/trigon-transport");
    }
}
