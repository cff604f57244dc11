package trigon.software.queue;

import java.lang.foreign.MemorySegment;
import trigon.software.memory.Buffers;
import trigon.system.Errno;
import trigon.system.Memory;

/**
 * The send work requests of a queue pair: a preallocated ring which one posting thread fills, and which is worked off
 * under the queue pair's lock. An index counts requests since the last RESET; the slot is free again once {@link
 * #release} passes it.
 */
public final class SendQueue {

    private static final int STRIDE = 8;
    private static final int ID = 0;
    private static final int LOCAL_ADDRESS = 1;
    private static final int REMOTE_ADDRESS = 2;
    private static final int OPERAND = 3;
    private static final int LENGTH_AND_LOCAL_KEY = 4;
    private static final int REMOTE_KEY = 5;
    private static final int OPCODE_AND_FLAGS = 6;

    private final long[] slots;
    private final int mask;
    private final int inlineBytes;
    private final MemorySegment inline;
    private final PaddedCounter head = new PaddedCounter();
    private final PaddedCounter tail = new PaddedCounter();
    private long headSeenByProducer;

    /** A ring for at least that many requests, with room for that many inline bytes in each. */
    public SendQueue(int workRequests, int inlineBytes) {
        int capacity = RingSlots.powerOfTwo(workRequests);
        slots = new long[capacity * STRIDE];
        mask = capacity - 1;
        this.inlineBytes = inlineBytes;
        // collected with the queue, not freed: a late post on a closed queue pair must not hit foreign memory
        inline = Buffers.allocateSegment(Math.max(1L, (long) capacity * inlineBytes));
    }

    /** Most bytes of payload that are copied with a request. */
    public int inlineBytes() {
        return inlineBytes;
    }

    // ---- the posting thread

    /** Returns true if one more request fits; takes back released slots if need be. */
    public boolean findRoom() {
        long index = tail.get();
        if (index - headSeenByProducer <= mask) {
            return true;
        }
        headSeenByProducer = head.getAcquire();
        return index - headSeenByProducer <= mask;
    }

    /** Copies the payload of the request that is offered next. The caller has checked the length and the room. */
    public long copyInline(long localAddress, int length) {
        long at = inline.address() + (long) ((int) tail.get() & mask) * inlineBytes;
        Memory.copy(localAddress, at, length);
        return at;
    }

    /**
     * Adds a request; 0, or ENOMEM if the ring is full.
     *
     * @param operand the immediate, or the addend, where the opcode has one
     */
    public int offer(
            int opcode,
            long workRequestId,
            long localAddress,
            int length,
            int localKey,
            long remoteAddress,
            int remoteKey,
            long operand,
            int flags) {
        if (!findRoom()) {
            return Errno.ENOMEM;
        }
        long index = tail.get();
        int at = slot(index);
        slots[at + ID] = workRequestId;
        slots[at + LOCAL_ADDRESS] = localAddress;
        slots[at + REMOTE_ADDRESS] = remoteAddress;
        slots[at + OPERAND] = operand;
        slots[at + LENGTH_AND_LOCAL_KEY] = RingSlots.pack(length, localKey);
        slots[at + REMOTE_KEY] = remoteKey;
        slots[at + OPCODE_AND_FLAGS] = RingSlots.pack(opcode, flags);
        tail.setVolatile(index + 1);
        return 0;
    }

    // ---- under the queue pair's lock

    /** One past the newest request. */
    public long tail() {
        return tail.getVolatile();
    }

    /** Gives the slots below {@code index} back to the posting thread. */
    public void release(long index) {
        head.setRelease(index);
    }

    /** The identifier of a request that is in the queue, as it was posted; as are the following. */
    public long workRequestId(long index) {
        return slots[slot(index) + ID];
    }

    public long localAddress(long index) {
        return slots[slot(index) + LOCAL_ADDRESS];
    }

    public long remoteAddress(long index) {
        return slots[slot(index) + REMOTE_ADDRESS];
    }

    public long operand(long index) {
        return slots[slot(index) + OPERAND];
    }

    public int length(long index) {
        return RingSlots.high(slots[slot(index) + LENGTH_AND_LOCAL_KEY]);
    }

    public int localKey(long index) {
        return RingSlots.low(slots[slot(index) + LENGTH_AND_LOCAL_KEY]);
    }

    public int remoteKey(long index) {
        return (int) slots[slot(index) + REMOTE_KEY];
    }

    public int opcode(long index) {
        return RingSlots.high(slots[slot(index) + OPCODE_AND_FLAGS]);
    }

    public int flags(long index) {
        return RingSlots.low(slots[slot(index) + OPCODE_AND_FLAGS]);
    }

    private int slot(long index) {
        return ((int) index & mask) * STRIDE;
    }
}
