package trigon.transport.metrics;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.system.Memory;

/**
 * Live counters of this process, by link and by path, in a file in memory that another process can read: see
 * {@link MetricsRow} for where things are and {@link MetricsReader} for who reads.
 *
 * <p>A counter is a word that its owner writes, in one piece, where it would have written a field. A reader maps the
 * same pages and takes no part: that costs the data path nothing but the lines that both touch. The file has no name
 * any more when this returns, so nothing is left behind however the process ends; readers open it by the process's
 * descriptor.
 *
 * <p>A row is used only once the file system has given room for it. Where that is full, as {@code /dev/shm} of a
 * container easily is, more paths are counted in memory that nobody else sees.
 *
 * <p>Thread-safe, but for the counters themselves.
 */
public final class Metrics implements AutoCloseable {

    /** Beginning of the file's name as long as it has one, and what {@code /proc/PID/fd} shows afterwards. */
    static final String FILE_PREFIX = "trigon-metrics-";

    private static final Logger log = LoggerFactory.getLogger(Metrics.class);

    /** Rows that the file system gives room for at a time; the first of them are the header's. */
    private static final int ROWS_AT_ONCE = 256;

    /** Rows where no file can be had, so that nobody sees them. */
    private static final int PRIVATE_ROWS = 1 << 10;

    private static final String OMISSION = "…";

    private final Arena arena = Arena.ofShared();
    private final Deque<Long> free = new ArrayDeque<>();
    private final @Nullable FileChannel channel;
    private final long address;
    private final int rows;
    private int used;

    /** Rows that there is room for: to touch others ends the process, where the file system is full. */
    private int backed;

    private boolean closed;

    /**
     * Counters that others can read.
     *
     * @param directory where a file is made for a moment; of a file system in memory
     */
    public static Metrics shared(Path directory) {
        try {
            Path file = Files.createTempFile(directory, FILE_PREFIX, "");
            try {
                return shared(FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE));
            } finally {
                Files.delete(file);
            }
        } catch (IOException e) {
            log.info(
                    "other processes cannot read this one's counters: cannot create a file in {}: {}",
                    directory,
                    e.toString());
            return unshared();
        }
    }

    private static Metrics shared(FileChannel channel) throws IOException {
        try {
            return new Metrics(channel);
        } catch (IOException e) {
            channel.close();
            throw e;
        }
    }

    /** Counters that nobody else sees. */
    public static Metrics unshared() {
        return new Metrics();
    }

    private Metrics() {
        channel = null;
        rows = PRIVATE_ROWS;
        backed = rows;
        address = arena.allocate(length(rows), MetricsRow.BYTES).address();
        writeHeader();
    }

    private Metrics(FileChannel channel) throws IOException {
        this.channel = channel;
        rows = MetricsRow.MAX_ROWS;
        back();
        MemorySegment mapped = channel.map(FileChannel.MapMode.READ_WRITE, 0, length(rows), arena);
        address = mapped.address();
        writeHeader();
    }

    private static long length(int rows) {
        return MetricsRow.HEADER_BYTES + (long) rows * MetricsRow.BYTES;
    }

    /** Has the file system give room for more rows, by writing: a full one refuses that with an error. */
    private void back() throws IOException {
        ByteBuffer zeros = ByteBuffer.allocate(ROWS_AT_ONCE * MetricsRow.BYTES);
        long position = backed == 0 ? 0 : length(backed);
        while (zeros.hasRemaining()) {
            position += requireChannel().write(zeros, position);
        }
        backed = (int) ((position - MetricsRow.HEADER_BYTES) / MetricsRow.BYTES);
    }

    private FileChannel requireChannel() {
        return Objects.requireNonNull(channel, "only a shared file grows");
    }

    private void writeHeader() {
        Memory.putInt(address + MetricsRow.ROWS, rows);
        Memory.putLongRelease(address, MetricsRow.MAGIC);
    }

    /**
     * A link's counters, for as long as there are any.
     *
     * @param name what the log calls it
     * @param type what carries its data
     * @param speedMbps of the link, as far as it is known
     */
    public LinkCounters link(String name, String type, int speedMbps) {
        return new LinkCounters(this, open(MetricsRow.LINK, name, type, speedMbps));
    }

    /** A row for one of that kind; of memory that nobody else sees if all are taken. */
    synchronized long open(int kind, String name, String type, int speedOrLink) {
        long row = take();
        // who sees the new generation sees the free kind, and who sees any of what follows sees the new generation
        Memory.putIntRelease(row + MetricsRow.GENERATION, Memory.getInt(row + MetricsRow.GENERATION) + 1);
        VarHandle.releaseFence();
        for (long word = MetricsRow.MESSAGES; word <= MetricsRow.LONGEST; word += Long.BYTES) {
            Memory.putLongOpaque(row + word, 0);
        }
        Memory.putIntOpaque(row + MetricsRow.SPEED_OR_LINK, speedOrLink);
        Memory.putIntOpaque(row + MetricsRow.STATE, 0);
        putText(row + MetricsRow.NAME, name, MetricsRow.NAME_BYTES);
        putText(row + MetricsRow.TYPE, type, MetricsRow.TYPE_BYTES);
        putText(row + MetricsRow.RELAYS, "", MetricsRow.RELAYS_BYTES);
        Memory.putIntRelease(row + MetricsRow.KIND, kind);
        return row;
    }

    private long take() {
        Long freed = free.pollFirst();
        if (freed != null) {
            return freed;
        }
        if (used == rows || !isBacked()) {
            long without = address + MetricsRow.WITHOUT_ROW;
            Memory.putLongOpaque(without, Memory.getLong(without) + 1);
            return arena.allocate(MetricsRow.BYTES, MetricsRow.BYTES).address();
        }
        used++;
        Memory.putIntRelease(address + MetricsRow.USED, used);
        return row(used - 1);
    }

    private boolean isBacked() {
        if (used < backed) {
            return true;
        }
        try {
            back();
            return true;
        } catch (IOException e) {
            log.debug("no room for more live counters", e);
            return false;
        }
    }

    private long row(int number) {
        return address + MetricsRow.HEADER_BYTES + (long) number * MetricsRow.BYTES;
    }

    /** Number of a row; outside of the table if nobody else sees it. */
    int number(long row) {
        long offset = row - address - MetricsRow.HEADER_BYTES;
        return offset >= 0 && offset < (long) rows * MetricsRow.BYTES ? (int) (offset / MetricsRow.BYTES) : -1;
    }

    /** A path is closed: its counts go to its link, and its row to the next one. */
    synchronized void close(long path, long link) {
        Memory.putIntRelease(path + MetricsRow.KIND, MetricsRow.FREE);
        for (long word = MetricsRow.MESSAGES; word <= MetricsRow.RETRIES; word += Long.BYTES) {
            Memory.putLongOpaque(link + word, Memory.getLong(link + word) + Memory.getLongOpaque(path + word));
        }
        free.addLast(path);
    }

    /** Says in which state a link is; nothing once the memory is freed, of which other threads know late. */
    synchronized void state(long link, int code) {
        if (!closed) {
            Memory.putIntOpaque(link + MetricsRow.STATE, code);
        }
    }

    /** Counts one more, whoever else does. */
    void add(long word) {
        add(word, 1);
    }

    /** Counts so many more. */
    synchronized void add(long word, long more) {
        if (!closed) {
            Memory.putLongOpaque(word, Memory.getLong(word) + more);
        }
    }

    /** Keeps the greater one. */
    synchronized void atLeast(long word, long value) {
        if (!closed) {
            Memory.putLongOpaque(word, Math.max(Memory.getLong(word), value));
        }
    }

    /** Writes a text into a row that is in use already. */
    synchronized void rename(long row, String name) {
        putText(row + MetricsRow.NAME, name, MetricsRow.NAME_BYTES);
    }

    /** Writes through whom a path goes, into a row that is in use already. */
    synchronized void relays(long row, String relays) {
        putText(row + MetricsRow.RELAYS, relays, MetricsRow.RELAYS_BYTES);
    }

    private static void putText(long at, String text, int room) {
        byte[] bytes = fitting(text, room - 1);
        for (int i = 0; i < room; i++) {
            Memory.putByte(at + i, i < bytes.length ? bytes[i] : 0);
        }
    }

    /** Shortens a text that is too long to whole characters of its beginning, and the mark of an omission. */
    private static byte[] fitting(String text, int room) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        int length = text.length();
        while (bytes.length > room) {
            length = text.offsetByCodePoints(length, -1);
            bytes = (text.substring(0, length) + OMISSION).getBytes(StandardCharsets.UTF_8);
        }
        return bytes;
    }

    /** Frees the memory; nothing is counted any more. Closing twice is allowed. */
    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        arena.close();
        if (channel != null) {
            try {
                channel.close();
            } catch (IOException e) {
                log.debug("the counters' file cannot be closed", e);
            }
        }
    }
}
