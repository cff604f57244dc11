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
    private static final MethodHandle OF_ONE = handle(JAVA_LONG);
    private static final MethodHandle OF_TWO = handle(JAVA_LONG, JAVA_LONG);
    private static final MethodHandle THREAD = handle();

    private final MemorySegment isend;
    private final MemorySegment irecv;
    private final MemorySegment repeat;
    private final MemorySegment confirmed;
    private final MemorySegment take;
    private final MemorySegment settle;
    private final MemorySegment thread;
    private final MemorySegment flushPost;
    private final MemorySegment flushOwe;
    private final MemorySegment flushFinish;
    private final MemorySegment flushPoll;

    private LaneFunctions(long table) {
        isend = function(table, 0);
        irecv = function(table, 1);
        repeat = function(table, 2);
        confirmed = function(table, 3);
        take = function(table, 4);
        settle = function(table, 5);
        thread = function(table, 6);
        flushPost = function(table, 7);
        flushOwe = function(table, 8);
        flushFinish = function(table, 9);
        flushPoll = function(table, 10);
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
            return (long) OF_ONE.invokeExact(confirmed, lane);
        } catch (Throwable e) {
            throw new AssertionError("a function of C throws nothing", e);
        }
    }

    public boolean take(long lane, long completion) {
        try {
            return (long) OF_TWO.invokeExact(take, lane, completion) != 0;
        } catch (Throwable e) {
            throw new AssertionError("a function of C throws nothing", e);
        }
    }

    /** Copies messages whose copies are due, so that they are done; for NCCL's thread alone. */
    public void settle(long lane) {
        try {
            long _ = (long) OF_ONE.invokeExact(settle, lane);
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

    // ---- of the READs of a device, see FlushReads

    /** Posts a READ; 0 or an errno. */
    public int flushPost(long device, long address, int key) {
        try {
            return (int) (long) REPEAT.invokeExact(flushPost, device, address, key);
        } catch (Throwable e) {
            throw new AssertionError("a function of C throws nothing", e);
        }
    }

    /** The device owes a flush its next READ. */
    public void flushOwe(long device, long flush) {
        try {
            long _ = (long) OF_TWO.invokeExact(flushOwe, device, flush);
        } catch (Throwable e) {
            throw new AssertionError("a function of C throws nothing", e);
        }
    }

    /** The oldest READ that it owes is done. */
    public void flushFinish(long device) {
        try {
            long _ = (long) OF_ONE.invokeExact(flushFinish, device);
        } catch (Throwable e) {
            throw new AssertionError("a function of C throws nothing", e);
        }
    }

    /** Polls, and takes account of READs that are done; false if there is trouble. */
    public boolean flushPoll(long device) {
        try {
            return (long) OF_ONE.invokeExact(flushPoll, device) != 0;
        } catch (Throwable e) {
            throw new AssertionError("a function of C throws nothing", e);
        }
    }
}
