package trigon.entry.warmup;

import java.lang.foreign.Arena;
import java.lang.invoke.MethodHandle;
import trigon.entry.net.DataPathStubs;
import trigon.nccl.NcclResult;
import trigon.system.Memory;

/**
 * NCCL's part in a {@link WarmUp}: one message at a time, by calls through upcall stubs, as C makes them. One thread;
 * lives as long as its arena.
 */
final class WarmUpCalls {

    private static final int BYTES = WarmUpNode.MAX_MESSAGE_BYTES;
    private static final int PAGE = 4096;

    private static final int TAG = 1;
    private static final long NULL = 0;

    /** Odd, as requests are. */
    private static final long NO_REQUEST = 1;

    private final MethodHandle isend;
    private final MethodHandle irecv;
    private final MethodHandle test;
    private final long source;
    private final long target;

    // what NCCL's pointers point to
    private final long data;
    private final long size;
    private final long tag;
    private final long memoryHandle;
    private final long sent;
    private final long received;
    private final long done;

    WarmUpCalls(DataPathStubs stubs, Arena arena) {
        isend = stubs.callIsend();
        irecv = stubs.callIrecv();
        test = stubs.callTest();
        source = arena.allocate(BYTES, PAGE).address();
        target = arena.allocate(BYTES, PAGE).address();
        long cells = arena.allocate(7 * Long.BYTES, Long.BYTES).address();
        data = cells;
        size = cells + Long.BYTES;
        tag = cells + 2 * Long.BYTES;
        memoryHandle = cells + 3 * Long.BYTES;
        sent = cells + 4 * Long.BYTES;
        received = cells + 5 * Long.BYTES;
        done = cells + 6 * Long.BYTES;
    }

    /** Address of the bytes that are sent. */
    long source() {
        return source;
    }

    /** Address at which messages are received. */
    long target() {
        return target;
    }

    void receive(long receiveComm, long memory, int bytes) {
        Memory.putLong(data, target);
        Memory.putLong(size, bytes);
        Memory.putInt(tag, TAG);
        Memory.putLong(memoryHandle, memory);
        Memory.putLong(received, NULL);
        check("irecv", () -> (int) irecv.invokeExact(receiveComm, data, size, tag, memoryHandle, received));
        if (Memory.getLong(received) == NULL) {
            throw new IllegalStateException("irecv gave no request, with none outstanding");
        }
    }

    /** Returns whether the message is on its way; otherwise to be called again. */
    boolean send(long sendComm, long memory, int bytes) {
        Memory.putLong(sent, NULL);
        check("isend", () -> (int) isend.invokeExact(sendComm, source, (long) bytes, (long) TAG, memory, sent));
        return Memory.getLong(sent) != NULL;
    }

    boolean isSent() {
        return isDone(sent);
    }

    boolean isReceived() {
        return isDone(received);
    }

    /** A request that is done is forgotten, as the plugin does. */
    private boolean isDone(long cell) {
        long request = Memory.getLong(cell);
        if (request == NULL) {
            return true;
        }
        Memory.putInt(done, 0);
        check("test", () -> (int) test.invokeExact(request, done, NULL));
        if (Memory.getInt(done) == 0) {
            return false;
        }
        Memory.putLong(cell, NULL);
        return true;
    }

    /** One of each, for a comm and a request that nobody has: refused, and nothing is done or said. */
    void makeInVain() {
        Memory.putLong(data, target);
        Memory.putLong(size, 1);
        Memory.putInt(tag, TAG);
        Memory.putLong(memoryHandle, NULL);
        Memory.putLong(received, NULL);
        refused("irecv", () -> (int) irecv.invokeExact(NULL, data, size, tag, memoryHandle, received));
        refused("isend", () -> (int) isend.invokeExact(NULL, source, 1L, (long) TAG, NULL, sent));
        refused("test", () -> (int) test.invokeExact(NO_REQUEST, done, NULL));
    }

    private interface Call {
        int result() throws Throwable;
    }

    private static void check(String name, Call call) {
        expect(name, call, NcclResult.SUCCESS);
    }

    private static void refused(String name, Call call) {
        expect(name, call, NcclResult.INVALID_ARGUMENT);
    }

    private static void expect(String name, Call call, NcclResult expected) {
        int result;
        try {
            result = call.result();
        } catch (Throwable thrown) {
            throw new AssertionError("a downcall does not throw", thrown);
        }
        if (result != expected.code()) {
            throw new IllegalStateException(name + " returned " + result);
        }
    }
}
