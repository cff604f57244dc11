package trigon.trace;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import trigon.system.Memory;
import trigon.testsupport.Await;
import trigon.trace.TraceFile.ChunkKind;

class RecorderTest {

    private static final long COMM = 5L << 32;

    @TempDir
    Path folder;

    @Test
    void aCommHasARingUntilItIsClosed() throws IOException {
        try (Arena arena = Arena.ofShared()) {
            long table = arena.allocate(TableLayout.BYTES, 64).address();
            Recorder recorder = begin(table);

            TraceLog.opened(COMM, () -> Fields.of("kind", "send"));
            long ring = Memory.getLong(TableLayout.comm(table, COMM));

            assertThat(Memory.getLong(table + TableLayout.IS_TRACING)).isEqualTo(1);
            assertThat(Memory.getLong(ring)).isEqualTo(RingLayout.MAGIC);
            assertThat(Memory.getLong(ring + RingLayout.IS_SEND)).isEqualTo(1);
            assertThat(Memory.getLong(table + TableLayout.THREADS)).isNotZero();

            TraceLog.closed(COMM);
            assertThat(Memory.getLong(TableLayout.comm(table, COMM))).isZero();

            recorder.close();
            assertThat(Memory.getLong(table + TableLayout.IS_TRACING)).isZero();
            assertThat(Memory.getLong(table + TableLayout.HAS_ENDED)).isEqualTo(1);
            assertThat(TraceLog.isOn()).isFalse();
        }
        try (var left = Files.list(folder)) {
            assertThat(left).map(Path::getFileName).containsExactly(Path.of("a.trace"));
        }
    }

    @Test
    void samplesAreTakenAtTheStartAndWithTheLastComm() throws Exception {
        Semaphore samples = new Semaphore(0);
        try (Arena arena = Arena.ofShared()) {
            long table = arena.allocate(TableLayout.BYTES, 64).address();
            try (Recorder recorder =
                    Recorder.begin(folder, folder, "a", Fields.of("host", "a"), table, _ -> samples.release())) {
                assertThat(samples.tryAcquire(60, TimeUnit.SECONDS)).isTrue();
                assertThat(recorder).isNotNull();

                TraceLog.opened(COMM, () -> Fields.of("kind", "send"));
                samples.drainPermits();
                TraceLog.closed(COMM);

                assertThat(samples.availablePermits()).isPositive();
            }
        }
    }

    @Test
    void eventsAreHeardWithoutAFile() throws Exception {
        try (Arena arena = Arena.ofShared()) {
            long table = arena.allocate(TableLayout.BYTES, 64).address();
            Queue<Long> heard = new ConcurrentLinkedQueue<>();
            RecordListener listener = new RecordListener() {
                @Override
                public void heard(ByteBuffer records) {
                    heard.add(records.getLong(records.position() + RecordLayout.SUBJECT));
                }

                @Override
                public void caughtUp(long since) {
                    heard.add(-1L);
                }
            };

            try (Recorder recorder = Recorder.listening(table, listener)) {
                long ring = Memory.getLong(table + TableLayout.THREADS);
                Memory.putLong(ring + RingLayout.RECORDS + RecordLayout.SUBJECT, 4711);
                Memory.putLongRelease(ring + RingLayout.HEAD, 1);

                Await.until("the record is heard", () -> heard.contains(4711L));
                assertThat(recorder).isNotNull();
                assertThat(TraceLog.isOn()).isFalse();
            }
            assertThat(heard).contains(4711L, -1L);
            assertThat(Memory.getLong(table + TableLayout.IS_TRACING)).isZero();
        }
    }

    @Test
    void withoutATraceNobodyListens() {
        TraceLog.event("transition", "qp", 1);
        TraceLog.opened(COMM, () -> {
            throw new AssertionError("nobody asks");
        });

        assertThat(TraceLog.isOn()).isFalse();
    }

    /** The library says so when the process exits; a thread of Java's ends the trace. */
    @Test
    void aProcessThatExitsHasItsTraceClosed() throws Exception {
        try (Arena arena = Arena.ofShared()) {
            long table = arena.allocate(TableLayout.BYTES, 64).address();
            Recorder recorder = begin(table);

            Memory.putLongRelease(table + TableLayout.IS_ENDING, 1);

            Await.until("the trace has ended", () -> Memory.getLongAcquire(table + TableLayout.HAS_ENDED) == 1);
            recorder.close();
        }
    }

    /** As on a full disk: the library stops writing records, and a process that exits does not wait for an end. */
    @Test
    void aTraceWhoseFileCannotBeWrittenIsClosed() throws Exception {
        Path rings = Files.createDirectory(folder.resolve("rings"));
        FullDisk file = new FullDisk();
        try (Arena arena = Arena.ofShared()) {
            long table = arena.allocate(TableLayout.BYTES, 64).address();
            Recorder recorder = Recorder.begin(rings, file, table, _ -> {});
            TraceLog.opened(COMM, () -> Fields.of("kind", "send"));

            file.full = true;
            recorder.event("transition", Fields.of("qp", 1));

            Await.until("the trace has ended", () -> Memory.getLongAcquire(table + TableLayout.HAS_ENDED) == 1);
            assertThat(Memory.getLong(table + TableLayout.IS_TRACING)).isZero();
            assertThat(file.closed).isTrue();
            assertThat(rings).doesNotExist();
            assertThat(TraceLog.isOn()).isFalse();
            recorder.close();
        }
    }

    private Recorder begin(long table) throws IOException {
        return Recorder.begin(folder, folder, "a", Fields.of("host", "a"), table, _ -> {});
    }

    private static final class FullDisk implements Recorder.Output {

        private volatile boolean full;
        private volatile boolean closed;

        @Override
        public void add(ChunkKind kind, int stream, Fields fields) throws IOException {
            write();
        }

        @Override
        public void addRecords(int stream, long lost, long first, ByteBuffer records) throws IOException {
            write();
        }

        @Override
        public void addHistograms(int stream, MemorySegment histograms) throws IOException {
            write();
        }

        @Override
        public void close() {
            closed = true;
        }

        private void write() throws IOException {
            if (full) {
                throw new IOException("No space left on device");
            }
        }
    }
}
