package trigon.system;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
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

    private static final MethodHandle MMAP =
            call("mmap", JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG);
    private static final MethodHandle MUNMAP = call("munmap", JAVA_INT, JAVA_LONG, JAVA_LONG);
    private static final MethodHandle MADVISE = call("madvise", JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT);

    private Pages() {}

    private static MethodHandle call(String name, MemoryLayout result, MemoryLayout... arguments) {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(
                linker.defaultLookup().findOrThrow(name), FunctionDescriptor.of(result, arguments));
    }

    private static Number invoke(MethodHandle call, Object... arguments) {
        try {
            return (Number) call.invokeWithArguments(arguments);
        } catch (Throwable thrown) {
            throw new IllegalStateException("a call of the C library failed", thrown);
        }
    }

    /** Zeros, given back once nothing refers to the segment any more. Empty if this process gets no more memory. */
    public static Optional<MemorySegment> allocate(long bytes) {
        long address =
                invoke(MMAP, 0L, bytes, READ_WRITE, PRIVATE_ANONYMOUS, -1, 0L).longValue();
        if (address == MAP_FAILED) {
            return Optional.empty();
        }
        return Optional.of(MemorySegment.ofAddress(address)
                .reinterpret(bytes, Arena.ofAuto(), segment -> invoke(MUNMAP, segment.address(), bytes)));
    }

    /**
     * Gives back the room that a part of such memory takes, but for its edges. What was in it is lost: bytes are zero,
     * or as they were.
     */
    public static void discard(MemorySegment part) {
        long from = (part.address() + MAX_PAGE_BYTES - 1) & -MAX_PAGE_BYTES;
        long to = (part.address() + part.byteSize()) & -MAX_PAGE_BYTES;
        if (from < to) {
            var _ = invoke(MADVISE, from, to - from, MADV_DONTNEED);
        }
    }
}
