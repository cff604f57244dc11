package trigon.cluster.facts;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import trigon.cluster.machine.Machine;
import trigon.cluster.machine.MachineLinks;

class TunedTableTest {

    private static final Path TABLE = Path.of("/table.o");
    private static final String LIBRARY = "/lib/libnccl.so.2.28.9";

    @TempDir
    Path root = Path.of("/nonexistent"); // until JUnit has set it

    private Optional<TunedTable> written(String text) throws IOException {
        ByteArrayOutputStream object = new ByteArrayOutputStream();
        object.writeBytes(new byte[100]);
        object.writeBytes((TunedTable.MARK + "\0").getBytes(StandardCharsets.UTF_8));
        object.writeBytes(new byte[TunedTable.TEXT_OFFSET - object.size() + 100]);
        object.writeBytes(text.getBytes(StandardCharsets.UTF_8));
        object.writeBytes(new byte[TunedTable.MAX_TEXT - text.length()]);
        Files.write(root.resolve("table.o"), object.toByteArray());
        return read();
    }

    private Optional<TunedTable> read() {
        Machine machine = new Machine(root, Map.of(), "a", "1.2.3", Optional.empty());
        return TunedTable.of(machine, TABLE, MachineLinks.of(machine));
    }

    private void nccl(String name, String version) throws IOException {
        Files.createDirectories(root.resolve("lib"));
        Files.writeString(root.resolve("lib").resolve(name), "xx NCCL version " + version + "+cuda13.0");
    }

    @Test
    void nothingHasChanged() throws IOException {
        nccl("libnccl.so.2.28.9", "2.28.9");
        List<String> links =
                TunedTable.linksOf(MachineLinks.of(new Machine(root, Map.of(), "a", "1.2.3", Optional.empty())));

        TunedTable table = written(TunedTable.text(LIBRARY, "2.28.9+cuda13.0", Map.of("a", links)))
                .orElseThrow();

        assertThat(table.ncclNow()).isEqualTo("2.28.9+cuda13.0");
        assertThat(table.hasOtherNccl()).isFalse();
        assertThat(table.hasOtherLinks()).isFalse();
    }

    @Test
    void anUpdateInPlaceIsSeen() throws IOException {
        nccl("libnccl.so.2.28.9", "2.30.7");

        assertThat(written(TunedTable.text(LIBRARY, "2.28.9", Map.of()))
                        .orElseThrow()
                        .hasOtherNccl())
                .isTrue();
    }

    @Test
    void anUpdateWithAnotherNameIsSeen() throws IOException {
        nccl("libnccl.so.2", "2.30.7");

        assertThat(written(TunedTable.text(LIBRARY, "2.28.9", Map.of()))
                        .orElseThrow()
                        .hasOtherNccl())
                .isTrue();
    }

    @Test
    void whatIsNotKnownIsNoChange() throws IOException {
        TunedTable table = written(TunedTable.text("", "", Map.of("b", List.of("rdma 200000"))))
                .orElseThrow();

        assertThat(table.hasOtherNccl()).isFalse();
        assertThat(table.hasOtherLinks()).isFalse();
        assertThat(written(TunedTable.text(LIBRARY, "2.28.9", Map.of()))
                        .orElseThrow()
                        .hasOtherNccl())
                .isFalse();
    }

    @Test
    void otherLinksAreSeen() throws IOException {
        assertThat(written(TunedTable.text("", "", Map.of("a", List.of("rdma 1", "rdma 1", "rdma 1"))))
                        .orElseThrow()
                        .hasOtherLinks())
                .isTrue();
    }

    @Test
    void whatIsNoTableIsNone() throws IOException {
        assertThat(read()).isEmpty();
        assertThat(written("no JSON")).isEmpty();
        assertThat(written("[]")).isEmpty();
        Files.writeString(root.resolve("table.o"), TunedTable.MARK + "\0");
        assertThat(read()).isEmpty();
        Files.write(root.resolve("table.o"), new byte[5 << 20]);
        assertThat(read()).isEmpty();
    }
}
