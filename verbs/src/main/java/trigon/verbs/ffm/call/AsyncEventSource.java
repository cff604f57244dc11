package trigon.verbs.ffm.call;

import java.lang.foreign.MemorySegment;

/** The source of a device's asynchronous events: libibverbs, or a test. Used by one thread at a time. */
public interface AsyncEventSource {

    /**
     * {@code ibv_get_async_event(3)}, which does not block.
     *
     * @param event the {@code struct ibv_async_event} to fill
     * @return 0, or a positive errno; EAGAIN if there is no event
     */
    int next(MemorySegment event);

    /** {@code ibv_ack_async_event(3)}, for an event that {@link #next} has filled; only once. */
    void acknowledge(MemorySegment event);
}
