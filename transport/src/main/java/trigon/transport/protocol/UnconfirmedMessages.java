package trigon.transport.protocol;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import trigon.system.Memory;
import trigon.transport.path.RegisteredMemory;

/**
 * The messages of a sender that its peer has not confirmed, so that they can be sent again over another path: oldest
 * first, by their sequence numbers. A short one is copied into a ring, as NCCL may use its memory again before the peer
 * has it. A longer one stays where it is, since NCCL hears that it is done only when the peer has it.
 *
 * <p>For the thread that makes the session's data-path calls, or who has stopped them. Allocates once after
 * construction, when the ring {@linkplain #grow grows}. The memory of rings is freed once nothing refers to it any
 * more: a request that comes late must not find another's.
 */
final class UnconfirmedMessages {

    /** Longer messages are not copied. */
    static final int LONGEST_COPY = 4 << 10;

    /** So much is copied at first: most connections have little that is short, and there may be thousands. */
    static final int FIRST_RING_BYTES = 16 << 10;

    /** And from when that was too little. */
    static final int RING_BYTES = 128 << 10;

    /** And so many messages may be unconfirmed, a power of two. */
    static final int MOST = 256;

    /**
     * After a half of the ring, or of these, the peer is asked: an answer costs two system calls, and comes before the
     * other half is used up.
     */
    private static final int ASK_MESSAGES = MOST / 2;

    /** Copies do not share lines of a cache: one is written while a device may still read the one before. */
    private static final int LINE = 64;

    private static final int MASK = MOST - 1;

    private final MemorySegment firstRing = Arena.ofAuto().allocate(FIRST_RING_BYTES, LINE);
    private MemorySegment ring = firstRing;
    private int ringBytes = FIRST_RING_BYTES;
    private boolean mayGrow = true;

    private final long[] addresses = new long[MOST];
    private final int[] sizes = new int[MOST];
    private final int[] tags = new int[MOST];
    /** Where NCCL's memory belongs to; null where the message is copied, or empty. */
    private final @Nullable RegisteredMemory[] memories = new @Nullable RegisteredMemory[MOST];
    /** Up to where the ring is used by this message and those before it, counted from the first byte ever copied. */
    private final long[] ends = new long[MOST];

    private long oldest;
    private long next;
    private long used;
    private long free;
    private long askedFor;
    private long askedAt;

    /** Where the ring is, for who registers it. */
    long ring() {
        return ring.address();
    }

    int ringBytes() {
        return ringBytes;
    }

    /** Where the first ring is, of {@link #FIRST_RING_BYTES}. */
    long firstRing() {
        return firstRing.address();
    }

    /**
     * If the ring is still the first one, and a message of that size does not fit into it, further copies go to a
     * larger one. Those that are here stay where they are.
     *
     * @return whether they do; not if there is no memory: the first one has to be enough then
     */
    boolean grow(int size) {
        if (!mayGrow || !isCopied(size) || fits(size)) {
            return false;
        }
        mayGrow = false;
        try {
            ring = Arena.ofAuto().allocate(RING_BYTES, LINE);
        } catch (OutOfMemoryError e) {
            return false;
        }
        ringBytes = RING_BYTES;
        used = 0;
        free = 0;
        askedFor = 0;
        Arrays.fill(ends, 0);
        return true;
    }

    /** The oldest message; the next one if there is none. */
    long oldest() {
        return oldest;
    }

    /** Whether a message of that size is copied. */
    static boolean isCopied(int size) {
        return size <= LONGEST_COPY;
    }

    /** Whether one more message of that size fits. */
    boolean hasRoom(int size) {
        return next - oldest < MOST && (!isCopied(size) || fits(size));
    }

    private boolean fits(int size) {
        return place(size) + size - free <= ringBytes;
    }

    /** Where in the ring's count the next copy begins: none crosses its end. */
    private long place(int size) {
        int at = (int) (used & (ringBytes - 1));
        return at + size <= ringBytes ? used : used + ringBytes - at;
    }

    /** Adds a message, which {@linkplain #hasRoom fits}, and copies it if it is short. */
    void add(long address, int size, int tag, @Nullable RegisteredMemory memory) {
        int slot = (int) next & MASK;
        boolean copied = isCopied(size);
        if (copied) {
            long begin = place(size);
            long at = ring.address() + (begin & (ringBytes - 1));
            Memory.copy(address, at, size);
            addresses[slot] = at;
            used = begin + ((size + LINE - 1) & -LINE);
        } else {
            addresses[slot] = address;
        }
        memories[slot] = copied ? null : memory;
        sizes[slot] = size;
        tags[slot] = tag;
        ends[slot] = used;
        next++;
    }

    /** The message that was added last is not sent, after all. */
    void takeBack() {
        next--;
        used = next == oldest ? free : ends[(int) (next - 1) & MASK];
        askedFor = free; // if it was to ask, the next one is
        askedAt = oldest;
    }

    /** Whether it is time to ask the peer how far it is; with the message that was added last, if so. */
    boolean isToAsk() {
        if (used - askedFor < ringBytes / 2 && next - askedAt < ASK_MESSAGES) {
            return false;
        }
        askedFor = used;
        askedAt = next;
        return true;
    }

    /** The peer has all messages below that one. */
    void confirm(long received) {
        while (oldest < received && oldest < next) {
            int slot = (int) oldest & MASK;
            free = ends[slot];
            memories[slot] = null;
            oldest++;
        }
    }

    /** One past the newest message. */
    long next() {
        return next;
    }

    /** Of all messages that are here, together. */
    long bytes() {
        long bytes = 0;
        for (long sequence = oldest; sequence < next; sequence++) {
            bytes += size(sequence);
        }
        return bytes;
    }

    /** Of a message that is here; as are the following. */
    long address(long sequence) {
        return addresses[(int) sequence & MASK];
    }

    int size(long sequence) {
        return sizes[(int) sequence & MASK];
    }

    int tag(long sequence) {
        return tags[(int) sequence & MASK];
    }

    /** Null if it lies in the ring. */
    @Nullable
    RegisteredMemory memory(long sequence) {
        return memories[(int) sequence & MASK];
    }

    /** Forgets all. */
    void clear() {
        Arrays.fill(memories, null);
        oldest = next;
        free = used;
    }
}
