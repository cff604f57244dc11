package trigon.transport.request;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import trigon.system.Memory;

/**
 * The functions of {@code lane/functions.h}, by which Java moves a lane's messages as the entry library does. They may
 * post, poll and count, and return at once; a post may enter the kernel. For whoever has the lane. Allocates nothing.
 */
public final class LaneFunctions {

    private static final MethodHandle MESSAGE = handle(JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG);
    private static final MethodHandle REPEAT = handle(JAVA_LONG, JAVA_LONG, JAVA_INT);
    private static final MethodHandle CONFIRMED = handle(JAVA_LONG);
    private static final MethodHandle TAKE = handle(JAVA_LONG, JAVA_LONG);
    private static final MethodHandle THREAD = handle();

    private final MemorySegment isend;
    private final MemorySegment irecv;
    private final MemorySegment repeat;
    private final MemorySegment confirmed;
    private final MemorySegment take;
    private final MemorySegment thread;

    private LaneFunctions(long table) {
        isend = function(table, 0);
        irecv = function(table, 1);
        repeat = function(table, 2);
        confirmed = function(table, 3);
        take = function(table, 4);
        thread = function(table, 5);
    }

    /** The functions of a {@code struct lane_functions}, which lives as long as the process. */
    public static LaneFunctions at(long table) {
        return new LaneFunctions(table);
    }

    private static MemorySegment function(long table, int number) {
        return MemorySegment.ofAddress(Memory.getLong(table + (long) number * Long.BYTES));
    }

    private static MethodHandle handle(MemoryLayout... arguments) {
        return Linker.nativeLinker().downcallHandle(FunctionDescriptor.of(JAVA_LONG, arguments));
    }

    public long isend(long lane, long address, int size, int key, int tag, long memory) {
        try {
            return (long) MESSAGE.invokeExact(isend, lane, address, size, key, tag, memory);
        } catch (Throwable e) {
            throw new AssertionError("a function of C throws nothing", e);
        }
    }

    public long irecv(long lane, long address, int size, int key, int tag, long memory) {
        try {
            return (long) MESSAGE.invokeExact(irecv, lane, address, size, key, tag, memory);
        } catch (Throwable e) {
            throw new AssertionError("a function of C throws nothing", e);
        }
    }

    public long repeat(long lane, long sequence, int key) {
        try {
            return (long) REPEAT.invokeExact(repeat, lane, sequence, key);
        } catch (Throwable e) {
            throw new AssertionError("a function of C throws nothing", e);
        }
    }

    public long confirmed(long lane) {
        try {
            return (long) CONFIRMED.invokeExact(confirmed, lane);
        } catch (Throwable e) {
            throw new AssertionError("a function of C throws nothing", e);
        }
    }

    public boolean take(long lane, long completion) {
        try {
            return (long) TAKE.invokeExact(take, lane, completion) != 0;
        } catch (Throwable e) {
            throw new AssertionError("a function of C throws nothing", e);
        }
    }

    public long thread() {
        try {
            return (long) THREAD.invokeExact(thread);
        } catch (Throwable e) {
            throw new AssertionError("a function of C throws nothing", e);
        }
    }
}
