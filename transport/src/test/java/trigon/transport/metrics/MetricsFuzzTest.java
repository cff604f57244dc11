package trigon.transport.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import trigon.system.file.OpenFile;
import trigon.transport.metrics.MetricsReader.Snapshot;

/** Whatever a process hands out as its counters, they are read or refused. */
@Tag("fuzz")
class MetricsFuzzTest {

    @TempDir
    static Path directory;

    /** If the first byte is odd, the rest is a file; else it is what follows a right beginning. */
    @FuzzTest
    void countersAreReadOrRefused(byte[] data) throws IOException {
        if (data.length == 0) {
            return;
        }
        int begin = (data[0] & 1) != 0 ? 0 : Long.BYTES;
        ByteBuffer content = ByteBuffer.allocate(begin + data.length - 1).order(ByteOrder.nativeOrder());
        if (begin > 0) {
            content.putLong(MetricsRow.MAGIC);
        }
        Path file = Files.write(
                directory.resolve("counters"),
                content.put(data, 1, data.length - 1).array());
        try (OpenFile open = OpenFile.open(file)) {
            Snapshot read = MetricsReader.read(open);
            assertThat(read.rows()).isLessThanOrEqualTo(content.capacity() / MetricsRow.BYTES);
            Stream.of(
                            read.links().stream().map(each -> each.name() + each.type()),
                            read.paths().stream().map(each -> each.peer() + each.type()),
                            read.failovers().stream().map(each -> each.peer()))
                    .flatMap(names -> names)
                    .forEach(name -> assertThat(name).doesNotContainPattern("[\\p{Cc}\\p{Cf}]"));
        } catch (UntrustedMetricsException e) {
            assertThat(e).hasMessageContaining("another version");
        }
    }
}
