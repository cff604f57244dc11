package trigon.verbs.ffm.call;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.ArrayList;
import java.util.List;
import trigon.system.Errno;

/**
 * Calls of functions that report by {@code errno(3)}. It is captured into a segment of the call, since the JVM may
 * change the thread's own before Java reads it. Thread-safe.
 */
final class CapturedErrno {

    private static final StructLayout CAPTURE = Linker.Option.captureStateLayout();
    private static final long OFFSET = CAPTURE.byteOffset(StructLayout.PathElement.groupElement("errno"));

    /** A call of a function that returns a pointer, or null; the first argument takes {@code errno}. */
    @FunctionalInterface
    interface PointerCall {
        MemorySegment call(MemorySegment captured) throws Throwable;
    }

    /** A call of a function that returns an int, negative for an error; the first argument takes {@code errno}. */
    @FunctionalInterface
    interface IntCall {
        int call(MemorySegment captured) throws Throwable;
    }

    private CapturedErrno() {}

    /** A handle whose first argument, before the function's own, is where {@code errno} goes. */
    static MethodHandle downcall(MemorySegment function, FunctionDescriptor descriptor, Linker.Option... more) {
        List<Linker.Option> options = new ArrayList<>(List.of(more));
        options.add(Linker.Option.captureCallState("errno"));
        return Linker.nativeLinker().downcallHandle(function, descriptor, options.toArray(Linker.Option[]::new));
    }

    /** The pointer's address, or a negative errno. */
    static long addressOrErrno(PointerCall function) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment captured = arena.allocate(CAPTURE);
            MemorySegment result = function.call(captured);
            return result.address() != 0 ? result.address() : negativeErrno(captured);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError("a downcall throws no checked exception", e);
        }
    }

    /** The result unless it is negative, or a negative errno. */
    static int resultOrErrno(IntCall function) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment captured = arena.allocate(CAPTURE);
            int result = function.call(captured);
            return result >= 0 ? result : negativeErrno(captured);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError("a downcall throws no checked exception", e);
        }
    }

    private static int negativeErrno(MemorySegment captured) {
        int errno = captured.get(ValueLayout.JAVA_INT, OFFSET);
        return errno > 0 ? -errno : -Errno.EIO;
    }
}
