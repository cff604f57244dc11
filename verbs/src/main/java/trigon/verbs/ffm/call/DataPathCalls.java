package trigon.verbs.ffm.call;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import trigon.verbs.NativePoll;
import trigon.verbs.ffm.struct.DeviceLayout;

/**
 * The verbs of the data path of one device context: the function pointers that the inline functions of
 * {@code <infiniband/verbs.h>} call. Immutable, and valid while the context is open. Allocates nothing.
 *
 * <p>A critical call leaves out the thread state transition, which is most of a call's cost, but keeps the JVM from
 * reaching a safepoint until it returns. That suits polling and the posting of receives, which every provider does in
 * memory that it shares with the device. It suits the posting of sends where the provider writes to the NIC's doorbell
 * from user space and returns within a microsecond, not where that is a system call that moves the data, as with rxe
 * and siw: hence two handles. The addresses are {@code long}s because a segment argument costs a liveness check per
 * call.
 */
public final class DataPathCalls {

    private static final FunctionDescriptor POST_DESCRIPTOR = FunctionDescriptor.of(
            ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG);
    private static final FunctionDescriptor POLL_DESCRIPTOR = FunctionDescriptor.of(
            ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG);

    // Static, so that the JIT compiler sees constants; the function pointer is the first argument.
    private static final MethodHandle POST = Linker.nativeLinker().downcallHandle(POST_DESCRIPTOR);
    private static final MethodHandle POST_CRITICAL =
            Linker.nativeLinker().downcallHandle(POST_DESCRIPTOR, Linker.Option.critical(false));
    private static final MethodHandle POLL_CRITICAL =
            Linker.nativeLinker().downcallHandle(POLL_DESCRIPTOR, Linker.Option.critical(false));

    private final MemorySegment postSend;
    private final MemorySegment postReceive;
    private final MemorySegment pollCompletionQueue;
    private final boolean critical;

    private DataPathCalls(
            MemorySegment postSend, MemorySegment postReceive, MemorySegment pollCompletionQueue, boolean critical) {
        this.postSend = postSend;
        this.postReceive = postReceive;
        this.pollCompletionQueue = pollCompletionQueue;
        this.critical = critical;
    }

    /**
     * Reads the function pointers of an open device.
     *
     * @param context address of its {@code struct ibv_context}
     * @param critical whether posting a send never enters the kernel
     */
    public static DataPathCalls of(long context, boolean critical) {
        MemorySegment struct = MemorySegment.ofAddress(context).reinterpret(DeviceLayout.CONTEXT_SIZE);
        return new DataPathCalls(
                struct.get(ValueLayout.ADDRESS, DeviceLayout.CONTEXT_POST_SEND),
                struct.get(ValueLayout.ADDRESS, DeviceLayout.CONTEXT_POST_RECV),
                struct.get(ValueLayout.ADDRESS, DeviceLayout.CONTEXT_POLL_CQ),
                critical);
    }

    /**
     * Calls each kind of call once, for a function that does nothing: what their first call links is linked then, and
     * not by the first message.
     */
    public static void linkAhead() {
        MemorySegment labs = Linker.nativeLinker().defaultLookup().findOrThrow("labs");
        DataPathCalls practice = new DataPathCalls(labs, labs, labs, false);
        int results = practice.postSend(0, 0, 0) + practice.postReceive(0, 0, 0) + practice.poll(0, 0, 0);
        if (results != 0) {
            throw new AssertionError("labs(0) returned something else than 0");
        }
    }

    /** {@code ibv_post_send(3)}: 0 or a positive errno. */
    public int postSend(long queuePair, long workRequest, long failedWorkRequest) {
        return critical
                ? postCritical(postSend, queuePair, workRequest, failedWorkRequest)
                : post(postSend, queuePair, workRequest, failedWorkRequest);
    }

    /** {@code ibv_post_recv(3)}: 0 or a positive errno. */
    public int postReceive(long queuePair, long workRequest, long failedWorkRequest) {
        return postCritical(postReceive, queuePair, workRequest, failedWorkRequest);
    }

    private static int post(MemorySegment function, long queuePair, long workRequest, long failedWorkRequest) {
        try {
            return ReturnCode.toErrno((int) POST.invokeExact(function, queuePair, workRequest, failedWorkRequest));
        } catch (Throwable e) {
            throw new AssertionError("a downcall throws nothing", e);
        }
    }

    private static int postCritical(MemorySegment function, long queuePair, long workRequest, long failedWorkRequest) {
        try {
            return ReturnCode.toErrno(
                    (int) POST_CRITICAL.invokeExact(function, queuePair, workRequest, failedWorkRequest));
        } catch (Throwable e) {
            throw new AssertionError("a downcall throws nothing", e);
        }
    }

    /** Address of what {@link #postSend} calls. */
    public long postSendFunction() {
        return postSend.address();
    }

    /** Address of what {@link #postReceive} calls. */
    public long postReceiveFunction() {
        return postReceive.address();
    }

    /** Address of what {@link #poll} calls. */
    public long pollFunction() {
        return pollCompletionQueue.address();
    }

    /** {@code ibv_poll_cq(3)}: the number of completions or a negative errno. */
    public int poll(long completionQueue, int capacity, long workCompletions) {
        int result;
        try {
            result = (int) POLL_CRITICAL.invokeExact(pollCompletionQueue, completionQueue, capacity, workCompletions);
        } catch (Throwable e) {
            throw new AssertionError("a downcall throws nothing", e);
        }
        return NativePoll.result(result);
    }
}
