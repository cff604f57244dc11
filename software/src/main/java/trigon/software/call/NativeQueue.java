package trigon.software.call;

import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import trigon.software.call.SoftwareFunctions.Function;
import trigon.verbs.NativePoll;

/** A completion queue in C; freed when it is collected. */
@SuppressWarnings("ReachabilityFenceUsage") // C throws nothing
public final class NativeQueue {

    private final MemorySegment memory;
    private final NativePoll poll;

    /**
     * A queue for at least that many completions.
     *
     * @throws OutOfMemoryError if there is no memory
     */
    public NativeQueue(int entries) {
        SoftwareFunctions functions = SoftwareFunctions.get();
        memory = Buffers.allocateSegment(functions.call(Function.QUEUE_BYTES, entries));
        functions.call(Function.MAKE_QUEUE, memory.address(), entries);
        poll = new NativePoll(functions.address(Function.POLL), memory.address());
    }

    long address() {
        return memory.address();
    }

    /** Takes completions, and moves the data of its queue pairs if there are none. The polling thread. */
    public int poll(int entries, long completions) {
        int taken = (int) SoftwareFunctions.get().call(Function.POLL, memory.address(), entries, completions);
        Reference.reachabilityFence(this);
        return taken;
    }

    /** The way to poll it from C. */
    public NativePoll nativePoll() {
        return poll;
    }
}
