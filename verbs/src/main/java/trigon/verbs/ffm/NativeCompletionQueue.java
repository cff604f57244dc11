package trigon.verbs.ffm;

import java.util.Optional;
import trigon.system.Errno;
import trigon.verbs.CompletionQueue;
import trigon.verbs.NativePoll;
import trigon.verbs.ResourceLedger;
import trigon.verbs.WorkCompletions;
import trigon.verbs.ffm.call.DataPathCalls;
import trigon.verbs.ffm.call.ResourceCalls;

/** A completion queue of libibverbs; threads as in {@link CompletionQueue}. */
final class NativeCompletionQueue implements CompletionQueue {

    private final NativeHandle handle;
    private final DataPathCalls calls;
    private final AsyncEvents asyncEvents;

    /** As in the handle, but 0 when closed; plain, for the polling thread. */
    private long completionQueue;

    /** Takes over the {@code struct ibv_cq} at that address. */
    NativeCompletionQueue(NativeDeviceContext context, long address, DataPathCalls calls) {
        this.calls = calls;
        completionQueue = address;
        handle = context.own(ResourceLedger.Kind.COMPLETION_QUEUE, "completion queue", address);
        asyncEvents = context.asyncEvents();
        asyncEvents.add(address, this);
    }

    /** Address of the {@code struct ibv_cq}. */
    long address() {
        return handle.address();
    }

    @Override
    public int poll(WorkCompletions into) {
        if (completionQueue == 0) {
            return -Errno.EINVAL;
        }
        return calls.poll(completionQueue, into.capacity(), into.address());
    }

    @Override
    public Optional<NativePoll> nativePoll() {
        return completionQueue == 0
                ? Optional.empty()
                : Optional.of(new NativePoll(calls.pollFunction(), completionQueue));
    }

    @Override
    public void close() {
        if (handle.close("ibv_destroy_cq", ResourceCalls::destroyCompletionQueue)) {
            asyncEvents.remove(completionQueue, this);
            completionQueue = 0;
        }
    }

    @Override
    public String toString() {
        return handle.object();
    }
}
