package trigon.integration.distribution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import trigon.testsupport.Sampled;

/** What {@code ./trigon audit} asks OSV-Scanner, and what it makes of the answer; a stand-in plays the scanner. */
@Timeout(180)
@Isolated("a program that another thread starts meanwhile holds the script open: \"text file busy\"")
class AuditIT {

    private static final Path AUDIT =
            Path.of("../dist/audit.sh").toAbsolutePath().normalize();
    private static final String SYSTEM_PATH = "/usr/bin:/bin";

    @TempDir
    private Path directory;

    private record End(int exit, String output) {}

    private Path scanners = Path.of("");

    @BeforeEach
    void installTheStandIn() throws IOException {
        scanners = Files.createDirectories(directory.resolve("bin"));
        Path scanner = Files.writeString(scanners.resolve("osv-scanner"), """
                #!/bin/sh
                echo "arguments: $*"
                echo "database: ${OSV_SCANNER_LOCAL_DB_CACHE_DIRECTORY:-none}"
                for last; do :; done
                grep -q '"bomFormat" *: *"CycloneDX"' "$last" && echo "reads the bill of materials"
                exit "${STAND_IN_EXIT:-0}"
                """);
        Files.setPosixFilePermissions(scanner, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    /** 0: nothing known; 1: vulnerabilities; 127 and 128: the scanner failed, or found no packages. */
    @ParameterizedTest
    @Sampled({"0", "1", "127", "128"})
    void itsExitStatusIsTheScanners(int status) throws Exception {
        End end = audit(Map.of("STAND_IN_EXIT", Integer.toString(status)));

        assertThat(end.exit()).as(end.output()).isEqualTo(status);
    }

    @Test
    void theScannerIsGivenTheBillOfMaterialsOfTheDistribution() throws Exception {
        assertThat(audit(Map.of()).output())
                .contains("arguments: scan source --lockfile " + AUDIT.resolveSibling("target/trigon/bom.json"))
                .contains("database: none")
                .contains("reads the bill of materials");
    }

    @Test
    void offlineItIsGivenTheDatabaseAndSendsNothing() throws Exception {
        Path database = Files.createDirectories(directory.resolve("a database"));

        assertThat(audit(Map.of(), "--offline", "a database").output())
                .contains("arguments: scan source --offline --lockfile ")
                .contains("database: " + database.toRealPath())
                .contains("reads the bill of materials");
    }

    @Test
    void aDatabaseThatIsNotThereIsAnErrorBeforeAnythingIsSent() throws Exception {
        for (String[] arguments : new String[][] {{"--offline"}, {"--offline", "nowhere"}}) {
            End end = audit(Map.of(), arguments);

            assertThat(end.exit()).as(end.output()).isEqualTo(2);
            assertThat(end.output())
                    .contains("--offline needs the directory of the database")
                    .doesNotContain("arguments:");
        }
    }

    @Test
    void whatItDoesNotKnowIsAnErrorWithItsUsage() throws Exception {
        End end = audit(Map.of(), "--no-such-option");

        assertThat(end.exit()).isEqualTo(2);
        assertThat(end.output()).contains("audit.sh --offline DIRECTORY").doesNotContain("arguments:");
    }

    @Test
    void withoutTheScannerItSaysWhereToGetIt() throws Exception {
        Files.delete(scanners.resolve("osv-scanner"));
        assumeThat(Path.of("/usr/bin/osv-scanner")).doesNotExist();

        End end = audit(Map.of());

        assertThat(end.exit()).as(end.output()).isEqualTo(2);
        assertThat(end.output()).contains("no osv-scanner on the PATH", "https://github.com/google/osv-scanner");
    }

    private End audit(Map<String, String> environment, String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(AUDIT.toString()));
        command.addAll(List.of(arguments));
        Path output = directory.resolve("output");
        ProcessBuilder builder = new ProcessBuilder(command)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile());
        builder.environment().remove("OSV_SCANNER_LOCAL_DB_CACHE_DIRECTORY");
        builder.environment().put("PATH", scanners + ":" + SYSTEM_PATH);
        builder.environment().putAll(environment);
        Process process = builder.start();
        try {
            assertThat(process.waitFor(180, TimeUnit.SECONDS)).isTrue();
        } finally {
            process.destroyForcibly();
        }
        return new End(process.exitValue(), Files.readString(output));
    }
}
