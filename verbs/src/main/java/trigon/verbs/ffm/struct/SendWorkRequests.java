package trigon.verbs.ffm.struct;

import java.lang.foreign.SegmentAllocator;
import trigon.system.Memory;
import trigon.verbs.SendFlag;

/**
 * One prepared {@code struct ibv_send_wr} with its {@code struct ibv_sge} for each operation, in native memory. A post
 * writes what varies and hands the struct to {@code ibv_post_send(3)}, which copies it to the device's queue before it
 * returns; that is why one of each is enough, however deep the queue is.
 *
 * <p>Used by the one thread that posts to the send queue. The queue pair keeps no more than the address of
 * {@link #allocate}d structs: an object for them would be one more cache line for each post. The {@code prepare}
 * methods return the address of a struct, and allocate nothing.
 */
public final class SendWorkRequests {

    /** A work request and its scatter/gather element, on cache lines of their own. */
    private static final int SLOT = 192;

    private static final int OPERATIONS = 4;
    private static final int CACHE_LINE = 64;

    /** Bytes that {@link #allocate} takes. */
    static final int BYTES = OPERATIONS * SLOT;

    private static final int SEND = 0;
    private static final int SEND_WITH_IMMEDIATE = 3 * SLOT;
    private static final int WRITE = SLOT;
    private static final int WRITE_WITH_IMMEDIATE = 2 * SLOT;

    private SendWorkRequests() {}

    /** Prepares the structs in memory that lives as long as the queue pair, and returns their address. */
    public static long allocate(SegmentAllocator memory) {
        long slots = memory.allocate(BYTES, CACHE_LINE).address();
        prepareSlot(slots + SEND, WorkRequestLayout.OPCODE_SEND);
        prepareSlot(slots + WRITE, WorkRequestLayout.OPCODE_RDMA_WRITE);
        prepareSlot(slots + WRITE_WITH_IMMEDIATE, WorkRequestLayout.OPCODE_RDMA_WRITE_WITH_IMM);
        prepareSlot(slots + SEND_WITH_IMMEDIATE, WorkRequestLayout.OPCODE_SEND_WITH_IMM);
        return slots;
    }

    private static void prepareSlot(long slot, int opcode) {
        Memory.fill(slot, SLOT, (byte) 0);
        Memory.putInt(slot + WorkRequestLayout.SEND_OPCODE, opcode);
        Memory.putLong(slot + WorkRequestLayout.SEND_SG_LIST, slot + WorkRequestLayout.SEND_SIZE);
    }

    public static long prepareSend(
            long slots, long workRequestId, long localAddress, int length, int localKey, int sendFlags) {
        long slot = slots + SEND;
        putLocal(slot, workRequestId, localAddress, length, localKey, sendFlags);
        return slot;
    }

    public static long prepareSendWithImmediate(
            long slots, long workRequestId, long localAddress, int length, int localKey, int immediate, int sendFlags) {
        long slot = slots + SEND_WITH_IMMEDIATE;
        putLocal(slot, workRequestId, localAddress, length, localKey, sendFlags);
        putImmediate(slot, immediate);
        return slot;
    }

    public static long prepareWrite(
            long slots,
            long workRequestId,
            long localAddress,
            int length,
            int localKey,
            long remoteAddress,
            int remoteKey,
            int sendFlags) {
        long slot = slots + WRITE;
        putLocal(slot, workRequestId, localAddress, length, localKey, sendFlags);
        putRemote(slot, remoteAddress, remoteKey);
        return slot;
    }

    public static long prepareWriteWithImmediate(
            long slots,
            long workRequestId,
            long localAddress,
            int length,
            int localKey,
            long remoteAddress,
            int remoteKey,
            int immediate,
            int sendFlags) {
        long slot = slots + WRITE_WITH_IMMEDIATE;
        putLocal(slot, workRequestId, localAddress, length, localKey, sendFlags);
        putRemote(slot, remoteAddress, remoteKey);
        putImmediate(slot, immediate);
        return slot;
    }

    private static void putLocal(
            long slot, long workRequestId, long localAddress, int length, int localKey, int sendFlags) {
        Memory.putLong(slot + WorkRequestLayout.SEND_WR_ID, workRequestId);
        Memory.putInt(slot + WorkRequestLayout.SEND_FLAGS, sendFlags & SendFlag.OF_LIBIBVERBS);
        // no element rather than an empty one: in a mlx5 data segment a length of 0 means 2 GiB
        Memory.putInt(slot + WorkRequestLayout.SEND_NUM_SGE, length == 0 ? 0 : 1);
        long element = slot + WorkRequestLayout.SEND_SIZE;
        Memory.putLong(element + WorkRequestLayout.SGE_ADDR, localAddress);
        Memory.putInt(element + WorkRequestLayout.SGE_LENGTH, length);
        Memory.putInt(element + WorkRequestLayout.SGE_LKEY, localKey);
    }

    private static void putImmediate(long slot, int immediate) {
        // it travels in network order
        Memory.putInt(slot + WorkRequestLayout.SEND_IMM_DATA, Integer.reverseBytes(immediate));
    }

    private static void putRemote(long slot, long remoteAddress, int remoteKey) {
        Memory.putLong(slot + WorkRequestLayout.RDMA_REMOTE_ADDR, remoteAddress);
        Memory.putInt(slot + WorkRequestLayout.RDMA_RKEY, remoteKey);
    }
}
