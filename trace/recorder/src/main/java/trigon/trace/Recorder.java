package trigon.trace;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.system.Memory;
import trigon.trace.TraceFile.ChunkKind;

/**
 * A process's trace: makes rings for the data path, and has a daemon thread take what is in them into a file, a hundred
 * times a second. What a process leaves in its rings when it dies is still there for {@code trigon report}. Somebody
 * may listen, with a file or without.
 *
 * <p>Thread-safe. Nothing of it is called on the data path, which only writes to the rings.
 */
public final class Recorder implements AutoCloseable {

    /** Beginning of the name of the folder with a process's rings. */
    public static final String RINGS_PREFIX = "trigon-trace-";

    private static final Logger log = LoggerFactory.getLogger(Recorder.class);

    /** Records of a ring: at ten million a second, ten milliseconds' would not fit; NCCL makes a tenth at most. */
    private static final int CAPACITY = 8192;

    private static final long DRAIN_MILLIS = 10;

    /** The histograms in the file are at most that old if the process is killed and its rings are gone, too. */
    private static final int DRAINS_PER_CHECKPOINT = 100;

    /** Rings that wait for threads of NCCL's. */
    private static final int SPARE_THREAD_RINGS = 2;

    private final @Nullable Path rings;
    private final Output file;
    private final long table;
    private final Map<Long, Ring> comms = new HashMap<>();
    private final List<Ring> threads = new ArrayList<>();
    private final Map<Integer, Ring> open = new HashMap<>();
    private final Thread drainer;
    private Consumer<Recorder> sample;
    private @Nullable RecordListener listener;
    private int streams;
    private long untraced;
    private State state = State.RECORDING;

    private enum State {
        RECORDING,

        /** The file cannot be written: the trace's thread closes it. */
        FAILED,

        CLOSED
    }

    /**
     * Begins a trace and its recording thread.
     *
     * @param directory where its file goes; made if it is not there
     * @param memory a folder of a file system in memory, for the rings
     * @param name of the file, without its ending
     * @param process what is known of the process
     * @param table address of what the entry library looks at, see {@link TableLayout}; outlives the process's calls
     * @param sample called at the start and once a second on the drainer's thread, and on the thread that closes the
     *     last comm; never twice at a time; may call {@link #event}
     * @throws IOException if the file or the folder for the rings cannot be made
     */
    public static Recorder begin(
            Path directory, Path memory, String name, Fields process, long table, Consumer<Recorder> sample)
            throws IOException {
        Files.createDirectories(directory);
        Path rings = Files.createTempDirectory(
                memory,
                RINGS_PREFIX,
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        TraceFile file = TraceFile.create(directory.resolve(name + TraceFile.SUFFIX));
        file.add(ChunkKind.PROCESS, 0, process.with("rings", rings));
        return begin(rings, file, table, sample);
    }

    /** With another output, and with a folder of its own for the rings. */
    static Recorder begin(Path rings, Output file, long table, Consumer<Recorder> sample) {
        Recorder recorder = new Recorder(rings, file, table, sample);
        recorder.refillThreads();
        Memory.putLongRelease(table + TableLayout.IS_TRACING, 1);
        recorder.drainer.start();
        TraceLog.listen(recorder);
        return recorder;
    }

    /**
     * Begins without a file: the events of NCCL's profiler are heard, and kept nowhere. What comms do is not recorded.
     *
     * @param table as of {@link #begin}
     */
    public static Recorder listening(long table, RecordListener listener) {
        Recorder recorder = new Recorder(null, Output.NOWHERE, table, _ -> {});
        recorder.listen(listener);
        recorder.refillThreads();
        Memory.putLongRelease(table + TableLayout.IS_TRACING, 1);
        recorder.drainer.start();
        return recorder;
    }

    private Recorder(@Nullable Path rings, Output file, long table, Consumer<Recorder> sample) {
        this.rings = rings;
        this.file = file;
        this.table = table;
        this.sample = sample;
        drainer = new Thread(this::run, "trigon-trace");
        drainer.setDaemon(true);
    }

    /**
     * A ring for a stream of records; the caller has it written by one thread at a time.
     *
     * @param fields what the stream is of
     * @return null if there is no memory for it: that stream is not traced, which the trace says
     */
    public synchronized @Nullable Ring open(Fields fields) {
        try {
            if (state == State.CLOSED) {
                return null;
            }
            int stream = ++streams;
            Ring ring = rings == null
                    ? Ring.ofProcess(stream, CAPACITY)
                    : Ring.create(rings.resolve("ring-" + stream), stream, CAPACITY);
            open.put(stream, ring);
            file.add(ChunkKind.STREAM, stream, fields);
            return ring;
        } catch (IOException e) {
            untraced++;
            log.warn("a connection is not traced: cannot create its ring in {}: {}", rings, e.toString());
            event("untraced", fields);
            return null;
        }
    }

    /** Nobody writes to the ring any more: takes what is left in it, and frees it. */
    public synchronized void close(Ring ring) {
        if (open.remove(ring.stream()) == null) {
            return;
        }
        finish(ring);
        ring.close();
    }

    /** That one hears of all records from now on, one at a time. */
    public synchronized void listen(RecordListener to) {
        listener = to;
    }

    synchronized void opened(long handle, Fields fields) {
        Ring ring = open(fields);
        if (ring == null) {
            return;
        }
        boolean sends = fields.get("kind").equals("send");
        Memory.putLong(ring.address() + RingLayout.IS_SEND, sends ? 1 : 0);
        comms.put(handle, ring);
        Memory.putLongRelease(TableLayout.comm(table, handle), ring.address());
    }

    synchronized void closed(long handle) {
        Ring ring = comms.remove(handle);
        if (ring != null) {
            Memory.putLongRelease(TableLayout.comm(table, handle), 0);
            close(ring);
            if (comms.isEmpty() && state != State.CLOSED) {
                takeSample(); // the process may end within the second
            }
        }
    }

    /** Has rings for threads that are new. */
    private synchronized void refillThreads() {
        long spare = threads.stream()
                .filter(ring -> Memory.getLongAcquire(ring.address() + RingLayout.OWNER) == 0)
                .count();
        for (; spare < SPARE_THREAD_RINGS && threads.size() < TableLayout.MAX_THREADS; spare++) {
            Ring ring = open(Fields.of("kind", "thread", "number", threads.size()));
            if (ring == null) {
                return;
            }
            Memory.putLongRelease(table + TableLayout.THREADS + threads.size() * 8L, ring.address());
            threads.add(ring);
        }
    }

    /** Something happened beside the data path, now. */
    public void event(String what, Fields fields) {
        try {
            Fields whole = Fields.of("what", what, "time", System.nanoTime());
            for (Map.Entry<String, String> field : fields.asMap().entrySet()) {
                whole = whole.with(field.getKey(), field.getValue());
            }
            file.add(ChunkKind.EVENT, 0, whole);
        } catch (IOException e) {
            fail(e);
        }
    }

    private synchronized void run() {
        int drains = 0;
        try {
            while (state == State.RECORDING) {
                boolean checkpoint = drains++ % DRAINS_PER_CHECKPOINT == 0;
                drain(checkpoint);
                refillThreads();
                if (checkpoint) {
                    takeSample();
                }
                if (Memory.getLongAcquire(table + TableLayout.IS_ENDING) != 0) {
                    break;
                }
                wait(DRAIN_MILLIS);
            }
            close();
        } catch (InterruptedException e) {
            log.debug("the trace's thread was interrupted", e);
        }
    }

    /** Takes a sample. An exception ends the samples, not the trace, nor the call that closes a comm. */
    private void takeSample() {
        try {
            sample.accept(this);
        } catch (RuntimeException e) {
            sample = _ -> {};
            log.warn(
                    "TCP and RDMA are no longer sampled for the trace; this is a defect in Trigon, please report it",
                    e);
        }
    }

    private void drain(boolean withHistograms) {
        long since = System.nanoTime();
        for (Ring ring : open.values()) {
            try {
                boolean any = ring.drainInto(this::take);
                if (withHistograms && (any || ring.written() > 0)) {
                    file.addHistograms(ring.stream(), ring.histograms());
                }
            } catch (IOException e) {
                fail(e);
                return;
            }
        }
        tell(hears -> hears.caughtUp(since));
    }

    private void take(int stream, long lost, long first, ByteBuffer records) throws IOException {
        ByteBuffer same = records.duplicate().order(ByteOrder.LITTLE_ENDIAN);
        file.addRecords(stream, lost, first, records);
        tell(hears -> hears.heard(same));
    }

    private void tell(Consumer<RecordListener> what) {
        RecordListener known = listener;
        try {
            if (known != null) {
                what.accept(known);
            }
        } catch (RuntimeException e) {
            listener = null;
            log.warn("NCCL's events are no longer passed on; this is a defect in Trigon, please report it", e);
        }
    }

    private void finish(Ring ring) {
        try {
            ring.drainInto(this::take);
            file.addHistograms(ring.stream(), ring.histograms());
            file.add(
                    ChunkKind.STREAM_END,
                    ring.stream(),
                    Fields.of("records", ring.written(), "lost", ring.lost(), "outstanding", ring.outstanding()));
        } catch (IOException e) {
            fail(e);
        }
    }

    /** Said once. A trace that is closed stays so. */
    private synchronized void fail(IOException why) {
        if (state == State.RECORDING) {
            state = State.FAILED;
            notifyAll();
            log.warn(
                    "the trace ends here, and the job continues: the trace file cannot be written: {}", why.toString());
        }
    }

    /** Ends the trace: takes what the rings have. What is written to them from now on is lost. */
    @Override
    public synchronized void close() {
        if (state == State.CLOSED) {
            return;
        }
        TraceLog.listen(null);
        Memory.putLongRelease(table + TableLayout.IS_TRACING, 0);
        for (Ring ring : open.values()) { // threads of NCCL's may be in the middle of a record
            finish(ring);
            ring.abandon();
        }
        open.clear();
        addEnd();
        state = State.CLOSED;
        notifyAll();
        closeFiles();
        Memory.putLongRelease(table + TableLayout.HAS_ENDED, 1);
    }

    private void addEnd() {
        try {
            long lostEvents = Memory.getLongAcquire(table + TableLayout.LOST_EVENTS);
            file.add(
                    ChunkKind.END,
                    0,
                    Fields.of("time", System.nanoTime(), "untraced", untraced, "lostEvents", lostEvents));
        } catch (IOException e) {
            fail(e);
        }
    }

    private void closeFiles() {
        try (file) {
            if (rings != null) {
                Files.deleteIfExists(rings);
            }
        } catch (IOException e) {
            log.debug("the trace's files cannot be closed", e);
        }
    }

    /** A recorder's destination. */
    interface Output extends Ring.Sink, AutoCloseable {

        /** For a recorder that has a listener only. */
        Output NOWHERE = new Output() {
            @Override
            public void add(ChunkKind kind, int stream, Fields fields) {}

            @Override
            public void addRecords(int stream, long lost, long first, ByteBuffer records) {}

            @Override
            public void addHistograms(int stream, MemorySegment histograms) {}

            @Override
            public void close() {}
        };

        /** Adds a chunk of fields. */
        void add(ChunkKind kind, int stream, Fields fields) throws IOException;

        /** Adds a ring's histograms. */
        void addHistograms(int stream, MemorySegment histograms) throws IOException;

        @Override
        void close() throws IOException;
    }
}
