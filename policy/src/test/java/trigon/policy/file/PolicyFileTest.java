package trigon.policy.file;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import trigon.policy.PolicyLoader;
import trigon.policy.program.ProgramTypes;
import trigon.policy.verify.Limits;

class PolicyFileTest {

    private static final Path EXAMPLES = Path.of("examples");
    private static final Path PROGRAMS = Path.of("src", "test", "c");

    @TempDir
    private Path folder;

    private Path path;
    private PolicyFile file;

    @BeforeEach
    void open() {
        path = folder.resolve("policy.o");
        file = new PolicyFile(path, new PolicyLoader(Limits.DEFAULT));
    }

    private PolicyFile.Look with(Path object) throws Exception {
        Files.write(path, Files.readAllBytes(object));
        return file.look();
    }

    @Test
    void aFileThatIsNotThereIsSaidOnce() {
        assertThat(file.look())
                .isInstanceOfSatisfying(
                        PolicyFile.Look.Refused.class,
                        refused -> assertThat(refused.reason())
                                .contains(path.toString(), "there is no such file", "clang -target bpf"));
        assertThat(file.look()).isInstanceOf(PolicyFile.Look.Unchanged.class);
        assertThat(file.current()).isEmpty();
    }

    @Test
    void aBadVersionLeavesTheOneBefore() throws Exception {
        assertThat(with(EXAMPLES.resolve("size_aware.o"))).isInstanceOf(PolicyFile.Look.Accepted.class);
        PolicyVersion first = file.current().orElseThrow();
        assertThat(first).asString().startsWith("policy.o (tuner size_aware; ");
        assertThat(first.program(ProgramTypes.TUNER)).isPresent();
        assertThat(file.look()).isInstanceOf(PolicyFile.Look.Unchanged.class);

        assertThat(with(PROGRAMS.resolve("unsafe_division.o")))
                .isInstanceOfSatisfying(
                        PolicyFile.Look.Refused.class,
                        refused -> assertThat(refused.reason())
                                .startsWith("policy.o: section tuner, program ")
                                .contains("DIVISION_BY_ZERO")
                                .doesNotContain("\n"));
        assertThat(file.look()).as("it was said").isInstanceOf(PolicyFile.Look.Unchanged.class);
        assertThat(file.current()).contains(first);

        assertThat(with(EXAMPLES.resolve("table.o"))).isInstanceOf(PolicyFile.Look.Accepted.class);
        assertThat(file.current().orElseThrow().fingerprint()).isNotEqualTo(first.fingerprint());
    }

    @Test
    void whatIsNoObjectIsRefused() throws Exception {
        Files.writeString(path, "not an object");
        assertThat(file.look())
                .isInstanceOfSatisfying(
                        PolicyFile.Look.Refused.class,
                        refused -> assertThat(refused.reason()).contains("policy.o", "section", "offset"));
    }
}
