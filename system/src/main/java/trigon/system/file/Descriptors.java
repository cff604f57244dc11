package trigon.system.file;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.MethodHandle;

/**
 * File descriptors of this process by number, for what Java has no type for. Thread-safe.
 *
 * @see <a href="https://man7.org/linux/man-pages/man2/fcntl.2.html">fcntl(2)</a>
 */
public final class Descriptors {

    /** F_DUPFD_CLOEXEC: asm-generic/fcntl.h and linux/fcntl.h. */
    private static final int DUPLICATE_CLOSED_ON_EXEC = 1024 + 6;

    private static final Linker LINKER = Linker.nativeLinker();
    private static final StructLayout CAPTURE = Linker.Option.captureStateLayout();
    private static final long ERRNO = CAPTURE.byteOffset(PathElement.groupElement("errno"));
    private static final MethodHandle FCNTL = LINKER.downcallHandle(
            LINKER.defaultLookup().findOrThrow("fcntl"),
            FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT),
            Linker.Option.firstVariadicArg(2),
            Linker.Option.captureCallState("errno"));
    private static final MethodHandle CLOSE = LINKER.downcallHandle(
            LINKER.defaultLookup().findOrThrow("close"), FunctionDescriptor.of(JAVA_INT, JAVA_INT));

    private Descriptors() {}

    /** Another descriptor of the same, which no program has that the process starts; or the negative errno. */
    public static int duplicate(int descriptor) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment captured = arena.allocate(CAPTURE);
            int other = (int) FCNTL.invokeExact(captured, descriptor, DUPLICATE_CLOSED_ON_EXEC, 0);
            return other < 0 ? -captured.get(JAVA_INT, ERRNO) : other;
        } catch (Throwable e) {
            throw new IllegalStateException("fcntl(2) cannot be called", e);
        }
    }

    /** {@code close(2)}, whose errors say nothing that could be done about. */
    public static void close(int descriptor) {
        try {
            var _ = (int) CLOSE.invokeExact(descriptor);
        } catch (Throwable e) {
            throw new IllegalStateException("close(2) cannot be called", e);
        }
    }
}
