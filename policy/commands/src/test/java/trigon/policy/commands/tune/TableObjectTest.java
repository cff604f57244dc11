package trigon.policy.commands.tune;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import trigon.policy.commands.tune.Sample.Asked;
import trigon.tools.Run;
import trigon.tools.console.CommandFailure;

class TableObjectTest {

    private static final Choice CHOICE = new Choice(0, 2, 4);

    @TempDir
    Path folder = Path.of("/nonexistent"); // until JUnit has set it

    private byte[] shipped = {};

    @BeforeEach
    void read() throws Exception {
        shipped = Files.readAllBytes(Path.of("../examples/tuning.o"));
    }

    private static Row row(int exponent) {
        return new Row(new Asked(4, 4, 2, 1L << exponent), CHOICE, new Choice(1, 0, 1), 2, 1, 20);
    }

    private String decisions(byte[] object, int ranks, int nodes) throws Exception {
        Path file = Files.write(folder.resolve("table.o"), object);
        Run run = Run.of(
                "policy",
                "test",
                file.toString(),
                "--ranks",
                "" + ranks,
                "--nodes",
                "" + nodes,
                "--collective",
                "all-reduce,all-gather");
        assertThat(run.err()).isEmpty();
        return run.out();
    }

    @Test
    void theShippedObjectDecidesNothing() throws Exception {
        assertThat(decisions(shipped, 4, 2)).doesNotContain("tree").contains("left to NCCL");
    }

    @Test
    void aRowDecidesForItsBytesRanksAndNodes() throws Exception {
        byte[] object = TableObject.of("t", shipped, List.of(row(16), row(20)), false, "{}");

        assertThat(decisions(object, 4, 2))
                .containsPattern("64K +64K +tree, Simple, 4 channels")
                .containsPattern("1M +1M +tree, Simple, 4 channels")
                .containsPattern("128K +512K +left to NCCL")
                .containsPattern("8 +8G +left to NCCL"); // all-gathers
        assertThat(decisions(object, 4, 4)).doesNotContain("tree");
        assertThat(decisions(object, 8, 2)).doesNotContain("tree");
    }

    /** The last row counts, and the verifier has room for all. */
    @Test
    void aFullTableIsAccepted() throws Exception {
        List<Row> rows = IntStream.range(0, TableObject.MAX_ROWS)
                .mapToObj(row -> row(row < TableObject.MAX_ROWS - 1 ? 3 : 30))
                .toList();

        assertThat(decisions(TableObject.of("t", shipped, rows, false, "{}"), 4, 2))
                .containsPattern("1G +1G +tree, Simple, 4 channels");
    }

    @Test
    void inTurnsHalfOfTheCallsAreLeftToNccl() throws Exception {
        byte[] object = TableObject.of("t", shipped, List.of(row(16)), true, "{}");
        Path file = Files.write(folder.resolve("turns.o"), object);
        Run run = Run.of(
                "policy",
                "test",
                file.toString(),
                "--ranks",
                "4",
                "--nodes",
                "2",
                "--json",
                "--collective",
                "all-reduce",
                "--sizes",
                String.join(",", Collections.nCopies(200, "64K")));

        assertThat(run.out().split("\"leftToNccl\": true", -1).length - 1).isBetween(80, 120);
    }

    @Test
    void whatHasNoRoomIsRefused() {
        List<Row> many = Collections.nCopies(TableObject.MAX_ROWS + 1, row(16));

        assertThatThrownBy(() -> TableObject.of("t", shipped, many, false, "{}"))
                .isInstanceOf(CommandFailure.class);
        assertThatThrownBy(() -> TableObject.of("t", shipped, List.of(), false, "x".repeat(8192)))
                .isInstanceOf(CommandFailure.class);
        assertThatThrownBy(() -> TableObject.of("t", new byte[100], List.of(), false, "{}"))
                .isInstanceOf(CommandFailure.class);
    }
}
