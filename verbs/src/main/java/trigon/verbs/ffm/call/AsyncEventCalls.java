package trigon.verbs.ffm.call;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import trigon.system.NativeFunction;
import trigon.verbs.VerbsException;
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

    private static final NativeFunction FCNTL = NativeFunction.of("fcntl");
    private static final NativeFunction GET_ASYNC_EVENT = VerbsLibrary.function("ibv_get_async_event");
    private static final NativeFunction ACK_ASYNC_EVENT = VerbsLibrary.function("ibv_ack_async_event");

    private final long context;

    private AsyncEventCalls(long context) {
        this.context = context;
    }

    /**
     * Events of the {@code struct ibv_context} there.
     *
     * @throws VerbsException if its file cannot be made not to block
     */
    public static AsyncEventCalls of(String deviceName, long address) {
        int file = descriptor(address);
        int flags = FCNTL.intOrErrno(file, F_GETFL, 0);
        int result = flags < 0 ? flags : FCNTL.intOrErrno(file, F_SETFL, flags | O_NONBLOCK);
        if (result < 0) {
            throw new VerbsException("fcntl(async_fd, O_NONBLOCK)", deviceName, -result, "");
        }
        return new AsyncEventCalls(address);
    }

    /** The file that the events of the {@code struct ibv_context} there come from. */
    public static int descriptor(long address) {
        return MemorySegment.ofAddress(address)
                .reinterpret(DeviceLayout.CONTEXT_SIZE)
                .get(ValueLayout.JAVA_INT, DeviceLayout.CONTEXT_ASYNC_FD);
    }

    @Override
    public int next(MemorySegment event) {
        int result = GET_ASYNC_EVENT.intOrErrno(context, event.address());
        return result < 0 ? -result : 0;
    }

    @Override
    public void acknowledge(MemorySegment event) {
        long _ = ACK_ASYNC_EVENT.call(event.address());
    }
}
