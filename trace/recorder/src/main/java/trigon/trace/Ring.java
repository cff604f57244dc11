package trigon.trace;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;
import trigon.system.Memory;

/**
 * A ring in memory. One of a trace is also a file of a file system in memory: it outlives the process, however that
 * ends. One thread writes, mostly in C; another one drains. See {@link RingLayout}.
 */
public final class Ring implements AutoCloseable {

    /** A destination of rings' records. */
    @FunctionalInterface
    public interface Sink {

        /**
         * Takes records that were copied out of a ring.
         *
         * @param stream whose records they are
         * @param lost records of the stream so far that were overwritten before they were taken
         * @param first how many records of the stream were before these
         * @param records whole ones, see {@link RecordLayout}; the caller uses the memory again
         * @throws IOException if they cannot be kept: they stay in the ring
         */
        void addRecords(int stream, long lost, long first, ByteBuffer records) throws IOException;
    }

    private final @Nullable Path file;
    private final Arena arena;
    private final long address;
    private final int capacity;
    private final ByteBuffer copy;
    private long lost;

    private Ring(@Nullable Path file, Arena arena, long address, int capacity) {
        this.file = file;
        this.arena = arena;
        this.address = address;
        this.capacity = capacity;
        copy = ByteBuffer.allocate(capacity * RecordLayout.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    }

    /**
     * A new one. All of it is written first: a file system that is full says so now, and no later write finds a page
     * missing.
     *
     * @param capacity records, a power of two
     * @throws IOException if there is no room
     */
    public static Ring create(Path file, int stream, int capacity) throws IOException {
        try (FileChannel channel = FileChannel.open(
                file, StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            ByteBuffer zeros = ByteBuffer.allocate((int) RingLayout.bytes(capacity));
            while (zeros.hasRemaining()) {
                channel.write(zeros);
            }
            return map(file, channel, capacity).begun(stream);
        } catch (IOException e) {
            Files.deleteIfExists(file);
            throw e;
        }
    }

    /** A new one that ends with the process. */
    static Ring ofProcess(int stream, int capacity) {
        Arena arena = Arena.ofShared();
        long address = arena.allocate(RingLayout.bytes(capacity), Long.BYTES).address();
        return new Ring(null, arena, address, capacity).begun(stream);
    }

    private Ring begun(int stream) {
        Memory.putInt(address + RingLayout.CAPACITY, capacity);
        Memory.putInt(address + RingLayout.STREAM, stream);
        Memory.putLongRelease(address, RingLayout.MAGIC);
        return this;
    }

    /**
     * One that an ended process has left.
     *
     * @throws IOException if it cannot be read, or is no ring
     */
    public static Ring leftBehind(Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            ByteBuffer header = ByteBuffer.allocate((int) RingLayout.HEAD).order(ByteOrder.LITTLE_ENDIAN);
            channel.read(header, 0);
            int capacity = header.getInt((int) RingLayout.CAPACITY);
            if (header.getLong(0) != RingLayout.MAGIC
                    || Integer.bitCount(capacity) != 1
                    || channel.size() != RingLayout.bytes(capacity)) {
                throw new IOException(file + " is no ring of a trace");
            }
            return map(file, channel, capacity);
        }
    }

    private static Ring map(Path file, FileChannel channel, int capacity) throws IOException {
        Arena arena = Arena.ofShared();
        MemorySegment mapped = channel.map(FileChannel.MapMode.READ_WRITE, 0, RingLayout.bytes(capacity), arena);
        return new Ring(file, arena, mapped.address(), capacity);
    }

    public long address() {
        return address;
    }

    /** Returns the number, in the trace, of the comm or NCCL thread that its records are of. */
    public int stream() {
        return Memory.getInt(address + RingLayout.STREAM);
    }

    /** Records that were overwritten before they were taken. */
    public long lost() {
        return lost;
    }

    /** Number of records written, with those that were overwritten. Any thread. */
    public long written() {
        return Memory.getLongAcquire(address + RingLayout.HEAD);
    }

    /** Messages that were posted and are not done. */
    public long outstanding() {
        return Memory.getLong(address + RingLayout.POSTED) - Memory.getLong(address + RingLayout.DONE);
    }

    /** The memory that the data path counts in, by {@link RingLayout}; not a copy. */
    public MemorySegment histograms() {
        return Memory.segment(address + RingLayout.HISTOGRAMS, RingLayout.ALL_HISTOGRAMS_BYTES);
    }

    /**
     * Writes a record, as the entry library does; for threads of Java's, one at a time.
     *
     * @param argument 4 bytes without a sign
     */
    public void write(long time, long subject, RecordKind kind, int detail, int argument, long value) {
        long head = Memory.getLong(address + RingLayout.HEAD);
        long record = address + RingLayout.RECORDS + (head & capacity - 1) * RecordLayout.BYTES;
        Memory.putLong(record + RecordLayout.TIME, time);
        Memory.putLong(record + RecordLayout.SUBJECT, subject);
        Memory.putShort(record + RecordLayout.KIND, (short) kind.code());
        Memory.putShort(record + RecordLayout.DETAIL, (short) detail);
        Memory.putInt(record + RecordLayout.ARGUMENT, argument);
        Memory.putLong(record + RecordLayout.VALUE, value);
        Memory.putLongRelease(address + RingLayout.HEAD, head + 1);
    }

    /**
     * Takes what was written since the last time. What is overwritten meanwhile is counted as lost: the
     * writer never waits.
     *
     * @return whether there was anything
     * @throws IOException if they cannot be kept; the records stay in the ring then
     */
    public boolean drainInto(Sink into) throws IOException {
        long drained = Memory.getLong(address + RingLayout.DRAINED);
        long head = written();
        if (head == drained) {
            return false;
        }
        long first = Math.max(drained, head - capacity);
        copyRecords(first, head);
        VarHandle.fullFence(); // the copy first, then what has happened to it
        // the record at the head may be half written, over the one that is a ring's length before it
        long whole = Math.max(first, written() + 1 - capacity);
        whole = Math.min(whole, head);
        long lostNow = lost + whole - drained;
        ByteBuffer records = copy.duplicate()
                .order(ByteOrder.LITTLE_ENDIAN)
                .position((int) (whole - first) * RecordLayout.BYTES)
                .limit((int) (head - first) * RecordLayout.BYTES);
        into.addRecords(stream(), lostNow, whole, records);
        lost = lostNow;
        Memory.putLong(address + RingLayout.DRAINED, head);
        return true;
    }

    private void copyRecords(long first, long end) {
        MemorySegment to = MemorySegment.ofBuffer(copy.clear());
        long at = 0;
        for (long next = first; next < end; ) {
            long slot = next & capacity - 1;
            long count = Math.min(end - next, capacity - slot);
            long bytes = count * RecordLayout.BYTES;
            Memory.copy(address + RingLayout.RECORDS + slot * RecordLayout.BYTES, to.asSlice(at, bytes), bytes);
            at += bytes;
            next += count;
        }
    }

    /** Frees the memory; nobody writes any more. The file is gone. */
    @Override
    public void close() {
        arena.close();
        abandon();
    }

    /** Nobody reads it any more, and somebody may still write: the memory stays as long as the process. */
    void abandon() {
        try {
            if (file != null) {
                Files.deleteIfExists(file);
            }
        } catch (IOException e) {
            // it is in memory, and small: nothing depends on it
        }
    }
}
