package trigon.system;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.util.Arrays;
import java.util.Optional;

/**
 * Function of C that takes and returns integers and pointers, at most seven. Immutable; any thread.
 *
 * <p>All of them are called as {@code long f(long, ...)} with seven arguments. The calling conventions of x86-64
 * (System V ABI) and arm64 (AAPCS64) allow that: a function does not look at arguments that it does not have, nor at
 * the upper half of an int. Its result must be made an int again where it is one. Each other shape of a call takes the
 * linker of a fresh process some milliseconds, and a process has some forty functions to call before its first message.
 */
public final class NativeFunction {

    private static final int ARGUMENTS = 7;
    private static final StructLayout CAPTURE = Linker.Option.captureStateLayout();
    private static final long ERRNO = CAPTURE.byteOffset(PathElement.groupElement("errno"));
    private static final MethodHandle CALL = downcall();

    /** Linked when the first function is called that reports by errno. */
    private static final class Capturing {
        static final MethodHandle CALL = downcall(Linker.Option.captureCallState("errno"));
    }

    private final MemorySegment function;

    private NativeFunction(MemorySegment function) {
        this.function = function;
    }

    /** The function at an address. */
    public static NativeFunction at(long address) {
        return new NativeFunction(MemorySegment.ofAddress(address));
    }

    /** A function of the C library, which has it. */
    public static NativeFunction of(String name) {
        return new NativeFunction(Linker.nativeLinker().defaultLookup().findOrThrow(name));
    }

    /** A function of a library, if it has it. */
    public static Optional<NativeFunction> find(SymbolLookup library, String name) {
        return library.find(name).map(NativeFunction::new);
    }

    private static MethodHandle downcall(Linker.Option... options) {
        MemoryLayout[] layouts = new MemoryLayout[ARGUMENTS];
        Arrays.fill(layouts, JAVA_LONG);
        return Linker.nativeLinker().downcallHandle(FunctionDescriptor.of(JAVA_LONG, layouts), options);
    }

    public long address() {
        return function.address();
    }

    public long call() {
        return call(0, 0, 0, 0, 0, 0, 0);
    }

    public long call(long first) {
        return call(first, 0, 0, 0, 0, 0, 0);
    }

    public long call(long first, long second) {
        return call(first, second, 0, 0, 0, 0, 0);
    }

    public long call(long first, long second, long third) {
        return call(first, second, third, 0, 0, 0, 0);
    }

    public long call(long first, long second, long third, long fourth) {
        return call(first, second, third, fourth, 0, 0, 0);
    }

    /** Calls a function of up to seven arguments; what it has not may be anything. Allocates nothing. */
    public long call(long first, long second, long third, long fourth, long fifth, long sixth, long seventh) {
        try {
            return (long) CALL.invokeExact(function, first, second, third, fourth, fifth, sixth, seventh);
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    /** Calls a function that returns an int, negative for an error: that, or the negative {@code errno(3)}. */
    public int intOrErrno(long... arguments) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment captured = arena.allocate(CAPTURE);
            int result = (int) capturing(captured, arguments);
            return result >= 0 ? result : negativeErrno(captured);
        }
    }

    /** Calls a function that returns a long, negative for an error: that, or the negative {@code errno(3)}. */
    public long longOrErrno(long... arguments) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment captured = arena.allocate(CAPTURE);
            long result = capturing(captured, arguments);
            return result >= 0 ? result : negativeErrno(captured);
        }
    }

    /** Calls a function that returns a pointer, null for an error: its address, or the negative {@code errno(3)}. */
    public long addressOrErrno(long... arguments) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment captured = arena.allocate(CAPTURE);
            long result = capturing(captured, arguments);
            return result != 0 ? result : negativeErrno(captured);
        }
    }

    /** The JVM may change the thread's errno before Java reads it, so the call itself puts it into a segment. */
    private long capturing(MemorySegment captured, long[] given) {
        long[] all = Arrays.copyOf(given, ARGUMENTS);
        try {
            return (long) Capturing.CALL.invokeExact(
                    function, captured, all[0], all[1], all[2], all[3], all[4], all[5], all[6]);
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    private static int negativeErrno(MemorySegment captured) {
        int errno = captured.get(JAVA_INT, ERRNO);
        return errno > 0 ? -errno : -Errno.EIO;
    }

    private static AssertionError impossible(Throwable thrown) {
        return new AssertionError("a function of C throws nothing", thrown);
    }
}
