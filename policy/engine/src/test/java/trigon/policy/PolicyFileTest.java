package trigon.policy;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import trigon.policy.program.ProgramType;
import trigon.policy.verify.VerifierLimits;
import trigon.system.file.ProcessUsers;

class PolicyFileTest {

    private static final Path EXAMPLES = Path.of("..", "examples");
    private static final Path PROGRAMS = Path.of("src", "test", "c");

    @TempDir
    private Path folder;

    private Path path;
    private PolicyFile file;

    @BeforeEach
    void open() {
        path = folder.resolve("policy.o");
        file = new PolicyFile(path, new PolicyLoader(VerifierLimits.DEFAULT));
    }

    private PolicyFile.Outcome with(Path object) throws Exception {
        return with(object, "rw-r--r--");
    }

    private PolicyFile.Outcome with(Path object, String permissions) throws Exception {
        Files.write(path, Files.readAllBytes(object));
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString(permissions));
        return file.refresh();
    }

    @ParameterizedTest
    @ValueSource(strings = {"rw-rw-r--", "rw-r--rw-", "rwxrwxrwx"})
    void aFileThatOthersMayWriteIsRefused(String permissions) throws Exception {
        assertThat(with(EXAMPLES.resolve("noop.o"), permissions))
                .isInstanceOfSatisfying(
                        PolicyFile.Outcome.Refused.class,
                        refused ->
                                assertThat(refused.reason()).contains("others than its owner", "chmod go-w " + path));
        assertThat(file.refresh()).as("it was said").isInstanceOf(PolicyFile.Outcome.Unchanged.class);
        assertThat(file.current()).isEmpty();
        assertThat(with(EXAMPLES.resolve("noop.o"), "rw-------")).isInstanceOf(PolicyFile.Outcome.Accepted.class);
    }

    @Test
    void itBelongsToTheUserOrToRoot() {
        assertThat(PolicyFile.isTrusted(1000, 1000)).isTrue();
        assertThat(PolicyFile.isTrusted(ProcessUsers.ROOT, 1000)).isTrue();
        assertThat(PolicyFile.isTrusted(1001, 1000)).isFalse();
        assertThat(PolicyFile.isTrusted(1000, ProcessUsers.ROOT)).isFalse();
    }

    @Test
    void aFileThatIsNotThereIsSaidOnce() {
        assertThat(file.refresh())
                .isInstanceOfSatisfying(
                        PolicyFile.Outcome.Refused.class,
                        refused -> assertThat(refused.reason())
                                .contains(path.toString(), "there is no such file", "clang -target bpf"));
        assertThat(file.refresh()).isInstanceOf(PolicyFile.Outcome.Unchanged.class);
        assertThat(file.current()).isEmpty();
    }

    @Test
    void aBadVersionLeavesTheOneBefore() throws Exception {
        assertThat(with(EXAMPLES.resolve("size_aware.o"))).isInstanceOf(PolicyFile.Outcome.Accepted.class);
        VerifiedPolicy first = file.current().orElseThrow();
        assertThat(first).asString().startsWith("policy.o (tuner size_aware; ");
        assertThat(first.program(ProgramType.TUNER)).isPresent();
        assertThat(file.refresh()).isInstanceOf(PolicyFile.Outcome.Unchanged.class);

        assertThat(with(PROGRAMS.resolve("unsafe_division.o")))
                .isInstanceOfSatisfying(
                        PolicyFile.Outcome.Refused.class,
                        refused -> assertThat(refused.reason())
                                .startsWith("policy.o: section tuner, program ")
                                .contains("DIVISION_BY_ZERO")
                                .doesNotContain("\n"));
        assertThat(file.refresh()).as("it was said").isInstanceOf(PolicyFile.Outcome.Unchanged.class);
        assertThat(file.current()).contains(first);

        assertThat(with(EXAMPLES.resolve("table.o"))).isInstanceOf(PolicyFile.Outcome.Accepted.class);
        assertThat(file.current().orElseThrow().fingerprint()).isNotEqualTo(first.fingerprint());
    }

    @Test
    void whatIsNoObjectIsRefused() throws Exception {
        Files.writeString(path, "not an object");
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rw-r--r--"));
        assertThat(file.refresh())
                .isInstanceOfSatisfying(
                        PolicyFile.Outcome.Refused.class,
                        refused -> assertThat(refused.reason()).contains("policy.o", "section", "offset"));
    }
}
