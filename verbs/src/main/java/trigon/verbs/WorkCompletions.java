package trigon.verbs;

import java.lang.foreign.Arena;
import org.jspecify.annotations.Nullable;
import trigon.system.Memory;

/**
 * A batch of completions, as {@link CompletionQueue#poll} fills it: an array of {@code struct ibv_wc} in native memory.
 *
 * <p>Allocated once and used again for every poll, by one thread. Reading allocates nothing. The offsets are those of
 * {@code <infiniband/verbs.h>} on 64-bit Linux; the libibverbs provider checks them against the generated layout.
 */
public final class WorkCompletions implements AutoCloseable {

    /** Size of one completion in bytes. */
    public static final int STRIDE = 48;

    public static final int WR_ID_OFFSET = 0;
    public static final int STATUS_OFFSET = 8;
    public static final int OPCODE_OFFSET = 12;
    public static final int VENDOR_ERROR_OFFSET = 16;
    public static final int BYTE_LENGTH_OFFSET = 20;
    public static final int IMMEDIATE_OFFSET = 24;
    public static final int QUEUE_PAIR_NUMBER_OFFSET = 28;
    public static final int FLAGS_OFFSET = 36;

    /** Bit of the flags: {@link #immediate} is valid ({@code IBV_WC_WITH_IMM}). */
    public static final int WITH_IMMEDIATE = 1 << 1;

    private final @Nullable Arena arena;
    private final long address;
    private final int capacity;

    /** A batch of up to {@code capacity} completions. */
    public WorkCompletions(int capacity) {
        this.capacity = capacity;
        arena = Arena.ofShared();
        address = arena.allocate((long) capacity * STRIDE, 64).address();
    }

    /** A batch in memory of the caller's, who keeps it for as long as the batch is used. */
    public WorkCompletions(long address, int capacity) {
        this.capacity = capacity;
        this.address = address;
        arena = null;
    }

    /** The most completions that it holds. */
    public int capacity() {
        return capacity;
    }

    /** Address of the array. */
    public long address() {
        return address;
    }

    /** The address by which C takes account of one completion. */
    public long address(int index) {
        return at(index);
    }

    /** The identifier given when the work request was posted. */
    public long workRequestId(int index) {
        return Memory.getLong(at(index) + WR_ID_OFFSET);
    }

    /** {@link WorkCompletionStatus#SUCCESS_CODE}, or the code of an error. */
    public int statusCode(int index) {
        return Memory.getInt(at(index) + STATUS_OFFSET);
    }

    /**
     * The completed operation; not valid where the status is an error. For the codes see {@link WorkCompletionOpcode}.
     */
    public int opcode(int index) {
        return Memory.getInt(at(index) + OPCODE_OFFSET);
    }

    /** A number of the device's maker that explains an error further. */
    public int vendorError(int index) {
        return Memory.getInt(at(index) + VENDOR_ERROR_OFFSET);
    }

    /** Bytes received; for RDMA WRITE with immediate, the bytes written. */
    public int byteLength(int index) {
        return Memory.getInt(at(index) + BYTE_LENGTH_OFFSET);
    }

    /** The peer's 32-bit immediate, where {@link #hasImmediate}. */
    public int immediate(int index) {
        return Integer.reverseBytes(Memory.getInt(at(index) + IMMEDIATE_OFFSET));
    }

    /** Returns whether the peer sent an immediate. */
    public boolean hasImmediate(int index) {
        return (Memory.getInt(at(index) + FLAGS_OFFSET) & WITH_IMMEDIATE) != 0;
    }

    /** Number of the local queue pair. */
    public int queuePairNumber(int index) {
        return Memory.getInt(at(index) + QUEUE_PAIR_NUMBER_OFFSET);
    }

    /** Writes one completion: for a provider that is not libibverbs. */
    public void set(
            int index,
            long workRequestId,
            int statusCode,
            int opcode,
            int byteLength,
            int immediate,
            int flags,
            int queuePairNumber) {
        long at = at(index);
        Memory.putLong(at + WR_ID_OFFSET, workRequestId);
        Memory.putInt(at + STATUS_OFFSET, statusCode);
        Memory.putInt(at + OPCODE_OFFSET, opcode);
        Memory.putInt(at + VENDOR_ERROR_OFFSET, 0);
        Memory.putInt(at + BYTE_LENGTH_OFFSET, byteLength);
        Memory.putInt(at + IMMEDIATE_OFFSET, Integer.reverseBytes(immediate));
        Memory.putInt(at + QUEUE_PAIR_NUMBER_OFFSET, queuePairNumber);
        Memory.putInt(at + FLAGS_OFFSET, flags);
    }

    private long at(int index) {
        return address + (long) index * STRIDE;
    }

    @Override
    public void close() {
        if (arena != null && arena.scope().isAlive()) {
            arena.close();
        }
    }
}
