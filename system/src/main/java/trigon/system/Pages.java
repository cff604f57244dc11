package trigon.system;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/**
 * Pages of the kernel's, which the JVM's limit on direct memory does not count. They take room where they were written
 * to. Any thread.
 *
 * @see <a href="https://man7.org/linux/man-pages/man2/mmap.2.html">mmap(2)</a>
 * @see <a href="https://man7.org/linux/man-pages/man2/madvise.2.html">madvise(2)</a>
 */
public final class Pages {

    /** The largest pages that Linux has on x86-64 and arm64. */
    private static final long MAX_PAGE_BYTES = 64 << 10;

    /** PROT_READ and PROT_WRITE. */
    private static final int READ_WRITE = 1 | 2;

    /** MAP_PRIVATE and MAP_ANONYMOUS, which are alike on x86-64 and arm64: asm-generic/mman-common.h. */
    private static final int PRIVATE_ANONYMOUS = 2 | 0x20;

    private static final long MAP_FAILED = -1;
    private static final int MADV_DONTNEED = 4;

    private static final NativeFunction MMAP = NativeFunction.of("mmap");
    private static final NativeFunction MUNMAP = NativeFunction.of("munmap");
    private static final NativeFunction MADVISE = NativeFunction.of("madvise");

    private Pages() {}

    /** Zeros, given back once nothing refers to the segment any more. Empty if this process gets no more memory. */
    public static Optional<MemorySegment> allocate(long bytes) {
        long address = MMAP.call(0, bytes, READ_WRITE, PRIVATE_ANONYMOUS, -1, 0, 0);
        if (address == MAP_FAILED) {
            return Optional.empty();
        }
        return Optional.of(MemorySegment.ofAddress(address)
                .reinterpret(bytes, Arena.ofAuto(), segment -> MUNMAP.call(segment.address(), bytes)));
    }

    /**
     * Gives back the room that a part of such memory takes, but for its edges. What was in it is lost: bytes are zero,
     * or as they were.
     */
    public static void discard(MemorySegment part) {
        long from = (part.address() + MAX_PAGE_BYTES - 1) & -MAX_PAGE_BYTES;
        long to = (part.address() + part.byteSize()) & -MAX_PAGE_BYTES;
        if (from < to) {
            var _ = MADVISE.call(from, to - from, MADV_DONTNEED);
        }
    }
}
