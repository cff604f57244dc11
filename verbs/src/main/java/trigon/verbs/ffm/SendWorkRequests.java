package trigon.verbs.ffm;

import java.lang.foreign.SegmentAllocator;
import trigon.verbs.Memory;
import trigon.verbs.SendFlag;

/**
 * One prepared {@code struct ibv_send_wr} with its {@code struct ibv_sge} for each operation, in native memory. A post
 * writes what varies and hands the struct to {@code ibv_post_send(3)}, which copies it to the device's queue before it
 * returns; that is why one of each is enough, however deep the queue is.
 *
 * <p>Used by the one thread that posts to the send queue. The {@code prepare} methods return the struct's address.
 * Allocates nothing after construction.
 */
final class SendWorkRequests {

    /** A work request and its scatter/gather element, on cache lines of their own. */
    private static final int SLOT = 192;

    private static final int OPERATIONS = 6;
    private static final int CACHE_LINE = 64;

    private final long send;
    private final long sendWithImmediate;
    private final long write;
    private final long writeWithImmediate;
    private final long read;
    private final long fetchAndAdd;

    /** Prepares the structs in memory that lives as long as the queue pair. */
    SendWorkRequests(SegmentAllocator memory) {
        long slots = memory.allocate((long) OPERATIONS * SLOT, CACHE_LINE).address();
        send = prepareSlot(slots, WorkRequestLayout.OPCODE_SEND);
        write = prepareSlot(slots + SLOT, WorkRequestLayout.OPCODE_RDMA_WRITE);
        writeWithImmediate = prepareSlot(slots + 2 * SLOT, WorkRequestLayout.OPCODE_RDMA_WRITE_WITH_IMM);
        read = prepareSlot(slots + 3 * SLOT, WorkRequestLayout.OPCODE_RDMA_READ);
        fetchAndAdd = prepareSlot(slots + 4 * SLOT, WorkRequestLayout.OPCODE_ATOMIC_FETCH_AND_ADD);
        sendWithImmediate = prepareSlot(slots + 5 * SLOT, WorkRequestLayout.OPCODE_SEND_WITH_IMM);
    }

    private static long prepareSlot(long slot, int opcode) {
        Memory.fill(slot, SLOT, (byte) 0);
        Memory.putInt(slot + WorkRequestLayout.SEND_OPCODE, opcode);
        Memory.putLong(slot + WorkRequestLayout.SEND_SG_LIST, slot + WorkRequestLayout.SEND_SIZE);
        return slot;
    }

    long prepareSend(long workRequestId, long localAddress, int length, int localKey, int sendFlags) {
        putLocal(send, workRequestId, localAddress, length, localKey, sendFlags);
        return send;
    }

    long prepareSendWithImmediate(
            long workRequestId, long localAddress, int length, int localKey, int immediate, int sendFlags) {
        putLocal(sendWithImmediate, workRequestId, localAddress, length, localKey, sendFlags);
        putImmediate(sendWithImmediate, immediate);
        return sendWithImmediate;
    }

    long prepareWrite(
            long workRequestId,
            long localAddress,
            int length,
            int localKey,
            long remoteAddress,
            int remoteKey,
            int sendFlags) {
        putLocal(write, workRequestId, localAddress, length, localKey, sendFlags);
        putRemote(write, remoteAddress, remoteKey);
        return write;
    }

    long prepareWriteWithImmediate(
            long workRequestId,
            long localAddress,
            int length,
            int localKey,
            long remoteAddress,
            int remoteKey,
            int immediate,
            int sendFlags) {
        putLocal(writeWithImmediate, workRequestId, localAddress, length, localKey, sendFlags);
        putRemote(writeWithImmediate, remoteAddress, remoteKey);
        putImmediate(writeWithImmediate, immediate);
        return writeWithImmediate;
    }

    long prepareRead(
            long workRequestId,
            long localAddress,
            int length,
            int localKey,
            long remoteAddress,
            int remoteKey,
            int sendFlags) {
        putLocal(read, workRequestId, localAddress, length, localKey, sendFlags);
        putRemote(read, remoteAddress, remoteKey);
        return read;
    }

    long prepareFetchAndAdd(
            long workRequestId,
            long localAddress,
            int localKey,
            long remoteAddress,
            int remoteKey,
            long addend,
            int sendFlags) {
        putLocal(fetchAndAdd, workRequestId, localAddress, Long.BYTES, localKey, sendFlags);
        Memory.putLong(fetchAndAdd + WorkRequestLayout.ATOMIC_REMOTE_ADDR, remoteAddress);
        Memory.putLong(fetchAndAdd + WorkRequestLayout.ATOMIC_COMPARE_ADD, addend);
        Memory.putInt(fetchAndAdd + WorkRequestLayout.ATOMIC_RKEY, remoteKey);
        return fetchAndAdd;
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
