package trigon.verbs.ffm.call;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import trigon.verbs.VerbsException;
import trigon.verbs.ffm.generated.Verbs;
import trigon.verbs.ffm.struct.DeviceLayout;

/**
 * {@code ibv_get_async_event(3)} of one device, made not to block: the file it reads is. Apart from
 * {@link ResourceCalls} since these functions are not needed before a process has been up for a while. Initialising
 * this class needs libibverbs.
 */
public final class AsyncEventCalls implements AsyncEventSource {

    // fcntl(2), on every architecture of Linux that JDK 25 runs on
    private static final int F_GETFL = 3;
    private static final int F_SETFL = 4;
    private static final int O_NONBLOCK = 0x800;

    private static final MethodHandle FCNTL = CapturedErrno.downcall(
            Linker.nativeLinker().defaultLookup().findOrThrow("fcntl"),
            FunctionDescriptor.of(
                    ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT),
            Linker.Option.firstVariadicArg(2));
    private static final MethodHandle GET_ASYNC_EVENT =
            CapturedErrno.downcall(Verbs.ibv_get_async_event$address(), Verbs.ibv_get_async_event$descriptor());

    private final MemorySegment context;

    private AsyncEventCalls(MemorySegment context) {
        this.context = context;
    }

    /**
     * Events of the {@code struct ibv_context} there.
     *
     * @throws VerbsException if its file cannot be made not to block
     */
    public static AsyncEventCalls of(String deviceName, long address) {
        MemorySegment context = MemorySegment.ofAddress(address).reinterpret(DeviceLayout.CONTEXT_SIZE);
        int file = descriptor(address);
        int flags = CapturedErrno.resultOrErrno(captured -> (int) FCNTL.invokeExact(captured, file, F_GETFL, 0));
        int result = flags < 0
                ? flags
                : CapturedErrno.resultOrErrno(
                        captured -> (int) FCNTL.invokeExact(captured, file, F_SETFL, flags | O_NONBLOCK));
        if (result < 0) {
            throw new VerbsException("fcntl(async_fd, O_NONBLOCK)", deviceName, -result, "");
        }
        return new AsyncEventCalls(context);
    }

    /** The file that the events of the {@code struct ibv_context} there come from. */
    public static int descriptor(long address) {
        return MemorySegment.ofAddress(address)
                .reinterpret(DeviceLayout.CONTEXT_SIZE)
                .get(ValueLayout.JAVA_INT, DeviceLayout.CONTEXT_ASYNC_FD);
    }

    @Override
    public int next(MemorySegment event) {
        int result =
                CapturedErrno.resultOrErrno(captured -> (int) GET_ASYNC_EVENT.invokeExact(captured, context, event));
        return result < 0 ? -result : 0;
    }

    @Override
    public void acknowledge(MemorySegment event) {
        Verbs.ibv_ack_async_event(event);
    }
}
