package trigon.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import trigon.trace.TraceFile.ChunkKind;

class RingTest {

    private static final int CAPACITY = 16;

    @TempDir
    Path folder;

    @Test
    void whatWasWrittenIsTakenInOrder() throws IOException {
        try (Ring ring = Ring.create(folder.resolve("ring"), 7, CAPACITY);
                TraceFile file = TraceFile.create(folder.resolve("a.trace"))) {
            write(ring, 0, 10);

            assertThat(ring.drainInto(file)).isTrue();
            assertThat(ring.drainInto(file)).isFalse();
        }
        ByteBuffer chunk = chunk();
        assertThat(chunk.getLong()).as("lost").isZero();
        assertThat(chunk.getLong()).as("first").isZero();
        assertThat(chunk.remaining()).isEqualTo(10 * RecordLayout.BYTES);
        for (int i = 0; i < 10; i++) {
            int at = chunk.position() + i * RecordLayout.BYTES;
            assertThat(chunk.getLong(at + RecordLayout.TIME)).isEqualTo(1000 + i);
            assertThat(chunk.getLong(at + RecordLayout.SUBJECT)).isEqualTo(i);
            assertThat(chunk.getShort(at + RecordLayout.KIND)).isEqualTo((short) RecordKind.SEND_POSTED.code());
            assertThat(chunk.getInt(at + RecordLayout.ARGUMENT)).isEqualTo(-1);
            assertThat(chunk.getLong(at + RecordLayout.VALUE)).isEqualTo(i * 100L);
        }
    }

    /** The slot of the oldest one is where the next is written, so that one is not trusted. */
    @Test
    void whatWasOverwrittenIsCountedAsLost() throws IOException {
        try (Ring ring = Ring.create(folder.resolve("ring"), 7, CAPACITY);
                TraceFile file = TraceFile.create(folder.resolve("a.trace"))) {
            write(ring, 0, 100);

            ring.drainInto(file);

            assertThat(ring.lost()).isEqualTo(100 - CAPACITY + 1);
        }
        ByteBuffer chunk = chunk();
        assertThat(chunk.getLong()).isEqualTo(100 - CAPACITY + 1);
        assertThat(chunk.getLong()).isEqualTo(100 - CAPACITY + 1);
        assertThat(chunk.getLong(chunk.position() + RecordLayout.SUBJECT)).isEqualTo(100 - CAPACITY + 1);
    }

    @Test
    void aRingThatIsLeftBehindIsReadByAnother() throws IOException {
        Path path = folder.resolve("ring");
        Ring killed = Ring.create(path, 7, CAPACITY);
        write(killed, 0, 3);

        try (Ring ring = Ring.leftBehind(path)) {
            assertThat(ring.written()).isEqualTo(3);
            assertThat(ring.stream()).isEqualTo(7);
        }
        assertThat(path).doesNotExist();
        killed.close();
    }

    @Test
    void whatIsNoRingIsRefused() throws IOException {
        Path path = Files.write(folder.resolve("ring"), new byte[4096]);

        assertThatThrownBy(() -> Ring.leftBehind(path)).hasMessageContaining("is no ring of a trace");
    }

    @Test
    void bucketsHaveTheirEnds() {
        assertThat(RingLayout.bucketOf(0)).isZero();
        for (long time = 1; time < 5_000_000_000L; time = time * 5 / 4 + 1) {
            int bucket = RingLayout.bucketOf(time);
            assertThat(time).isLessThan(RingLayout.endOf(bucket));
            if (bucket > 0) {
                assertThat(time).isGreaterThanOrEqualTo(RingLayout.endOf(bucket - 1));
            }
        }
        assertThat(RingLayout.bucketOf(Long.MAX_VALUE)).isEqualTo(RingLayout.BUCKETS - 1);
    }

    private static void write(Ring ring, int from, int to) {
        for (int i = from; i < to; i++) {
            ring.write(1000 + i, i, RecordKind.SEND_POSTED, 0, -1, i * 100L);
        }
    }

    /** The content of the file's only chunk. */
    private ByteBuffer chunk() throws IOException {
        ByteBuffer file =
                ByteBuffer.wrap(Files.readAllBytes(folder.resolve("a.trace"))).order(ByteOrder.LITTLE_ENDIAN);
        file.position(TraceFile.HEADER_BYTES);
        assertThat(file.getInt()).isEqualTo(ChunkKind.RECORDS.code());
        assertThat(file.getInt()).isEqualTo(7);
        int length = file.getInt();
        file.getInt();
        assertThat(file.remaining()).isEqualTo(length);
        return file;
    }
}
