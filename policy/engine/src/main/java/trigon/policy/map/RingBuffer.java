package trigon.policy.map;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.function.Consumer;
import trigon.system.Memory;

/**
 * Records from programs to the host. Any number of threads write, without a lock; one thread reads. What does not fit
 * is dropped and counted.
 *
 * <p>Memory: a header, then the records: 8 bytes of header each, then the data, rounded up to 8. A record's header is
 * zero until it is complete, since the reader clears what it has read before it gives it back.
 *
 * @param base start of the header: bytes written, read and dropped so far
 * @param data start of the records
 */
public record RingBuffer(MapSpec spec, MemorySegment memory, long base, long data, int bytes, long shadowBytes)
        implements PolicyMap {

    private static final int WRITTEN = 0;
    private static final int READ = 64;
    private static final int DROPPED = 128;
    private static final int HEADER_BYTES = 192;
    private static final int RECORD_HEADER = 8;

    private static final long COMPLETE = 1L << 62;
    private static final long PADDING = 1L << 61;
    private static final long LENGTH = 0xffff_ffffL;

    static RingBuffer create(MapSpec spec) throws MapException {
        long bytes = HEADER_BYTES + (long) spec.entries();
        MemorySegment memory = Native.allocate(2 * bytes);
        return new RingBuffer(spec, memory, memory.address(), memory.address() + HEADER_BYTES, spec.entries(), bytes);
    }

    /**
     * {@code bpf_ringbuf_output}: copies a record into the buffer.
     *
     * @return 0, or {@code -EAGAIN} if it is full, or {@code -EINVAL} for flags that do not exist
     */
    public long output(long from, long length, long flags, long shadow) {
        // BPF_RB_NO_WAKEUP and BPF_RB_FORCE_WAKEUP: nobody is woken here
        if (flags < 0 || flags > 3) {
            return -EINVAL;
        }
        long shift = shadow & shadowBytes;
        long needed = RECORD_HEADER + Native.aligned(length);
        if (needed > bytes) {
            return -E2BIG;
        }
        while (true) {
            long written = Memory.getLongAcquire(base + shift + WRITTEN);
            long untilEnd = bytes - (written & bytes - 1);
            long padding = untilEnd < needed ? untilEnd : 0;
            if (written + padding + needed - Memory.getLongAcquire(base + shift + READ) > bytes) {
                Memory.getAndAddLong(base + shift + DROPPED, 1);
                return -EAGAIN;
            }
            if (Native.compareAndSet(base + shift + WRITTEN, written, written + padding + needed)) {
                if (padding != 0) {
                    Memory.putLongRelease(record(written, shift), COMPLETE | PADDING | padding);
                }
                long record = record(written + padding, shift);
                Native.copy(from, record + RECORD_HEADER, (int) length);
                Memory.putLongRelease(record, COMPLETE | length);
                return 0;
            }
        }
    }

    private long record(long position, long shift) {
        return data + shift + (position & bytes - 1);
    }

    /**
     * Hands over complete records, oldest first; one thread at a time.
     *
     * @return how many
     */
    public int poll(Consumer<byte[]> reader, int atMost) {
        int count = 0;
        long read = Memory.getLongAcquire(base + READ);
        while (count < atMost) {
            long at = record(read, 0);
            long header = Memory.getLongAcquire(at);
            if ((header & COMPLETE) == 0) {
                return count;
            }
            long length = header & LENGTH;
            long taken = length;
            byte[] content = new byte[0];
            if ((header & PADDING) == 0) {
                taken = RECORD_HEADER + Native.aligned(length);
                content = Memory.segment(at + RECORD_HEADER, length).toArray(ValueLayout.JAVA_BYTE);
            }
            Memory.fill(at, taken, (byte) 0);
            read += taken;
            Memory.putLongRelease(base + READ, read);
            if ((header & PADDING) == 0) {
                reader.accept(content);
                count++;
            }
        }
        return count;
    }

    /** Number of records that found no room so far. */
    public long dropped() {
        return Memory.getLongAcquire(base + DROPPED);
    }

    @Override
    public long lookup(long key, long shadow, long scratch) {
        return 0;
    }

    @Override
    public long update(long key, long value, long flags, long shadow, long scratch) {
        return -EINVAL;
    }

    @Override
    public long delete(long key, long shadow, long scratch) {
        return -EINVAL;
    }
}
