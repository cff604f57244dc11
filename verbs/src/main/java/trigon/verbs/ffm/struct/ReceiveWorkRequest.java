package trigon.verbs.ffm.struct;

import java.lang.foreign.SegmentAllocator;
import trigon.system.Memory;

/**
 * A prepared {@code struct ibv_recv_wr} with its {@code struct ibv_sge}, in native memory; see
 * {@link SendWorkRequests}. Used by the one thread that posts to the receive queue.
 */
public final class ReceiveWorkRequest {

    private static final int CACHE_LINE = 64;

    private final long request;
    private final long element;

    /** Prepares the struct in memory that lives as long as the queue pair. */
    public ReceiveWorkRequest(SegmentAllocator memory) {
        request = memory.allocate(WorkRequestLayout.RECEIVE_SIZE + WorkRequestLayout.SGE_SIZE, CACHE_LINE)
                .fill((byte) 0)
                .address();
        element = request + WorkRequestLayout.RECEIVE_SIZE;
        Memory.putLong(request + WorkRequestLayout.RECEIVE_SG_LIST, element);
    }

    /** Writes what varies and returns the struct's address. */
    public long prepare(long workRequestId, long localAddress, int length, int localKey) {
        Memory.putLong(request + WorkRequestLayout.RECEIVE_WR_ID, workRequestId);
        Memory.putInt(request + WorkRequestLayout.RECEIVE_NUM_SGE, length == 0 ? 0 : 1);
        Memory.putLong(element + WorkRequestLayout.SGE_ADDR, localAddress);
        Memory.putInt(element + WorkRequestLayout.SGE_LENGTH, length);
        Memory.putInt(element + WorkRequestLayout.SGE_LKEY, localKey);
        return request;
    }
}
