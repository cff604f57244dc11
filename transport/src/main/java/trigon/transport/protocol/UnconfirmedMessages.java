package trigon.transport.protocol;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;
import trigon.system.Memory;
import trigon.transport.path.RegisteredMemory;

/**
 * The messages of a sender that its peer has not confirmed, so that they can be sent again over another path: oldest
 * first, by their sequence numbers. A short one is copied into a ring, as NCCL may use its memory again before the peer
 * has it. A longer one stays where it is, since NCCL hears that it is done only when the peer has it.
 *
 * <p>For the thread that makes the session's data-path calls, or who has stopped them. Allocates after construction
 * only when the ring {@linkplain #grow grows}, at most twice. The memory of rings is freed once nothing refers to it
 * any more: a request that comes late must not find another's.
 */
final class UnconfirmedMessages {

    /**
     * Longer messages are not copied. NCCL begins the next collective on a connection when all messages of the one
     * before are done, so what the peer has to confirm first delays it; a copy of this length takes some 4 us.
     */
    static final int LONGEST_COPY = 64 << 10;

    /**
     * Bytes of the rings, each in use from when the one before was too small: a job has thousands of connections, and
     * most have few short messages under way.
     */
    private static final int[] RING_BYTES = {16 << 10, 128 << 10, 1 << 20};

    /**
     * The longest message that a ring takes, as a part of it. A half may be used before the peer is asked, and as much
     * as the message may be left out at the ring's end: so what is confirmed always makes room.
     */
    private static final int LONGEST_OF_RING = 4;

    /** And so many messages may be unconfirmed, a power of two. */
    static final int MAX = 256;

    /**
     * After a half of the ring, or of these, the peer is asked: an answer costs two system calls, and comes before the
     * other half is used up.
     */
    private static final int ASK_MESSAGES = MAX / 2;

    /** Copies do not share lines of a cache: one is written while a device may still read the one before. */
    private static final int LINE = 64;

    private static final int MASK = MAX - 1;

    private final IntFunction<MemorySegment> allocator;
    private final MemorySegment[] rings = new MemorySegment[RING_BYTES.length];

    /** The ring that copies go to. */
    private int ring;

    private int ringBytes = RING_BYTES[0];
    private int longestCopy = LONGEST_COPY;

    private final long[] addresses = new long[MAX];
    private final int[] sizes = new int[MAX];
    private final int[] tags = new int[MAX];
    /** Registration of NCCL's memory; null where the message is copied, or empty. */
    private final @Nullable RegisteredMemory[] memories = new @Nullable RegisteredMemory[MAX];
    /** Up to where the ring is used by this message and those before it, counted from the first byte ever copied. */
    private final long[] ends = new long[MAX];
    /** The ring with the copy. */
    private final byte[] ringOf = new byte[MAX];

    private long oldest;
    private long next;
    private long used;
    private long free;
    private long askedFor;
    private long askedAt;

    UnconfirmedMessages() {
        this(bytes -> Arena.ofAuto().allocate(bytes, LINE));
    }

    /**
     * With memory of another kind.
     *
     * @param allocator gives so many bytes, which begin with a line of the cache, or throws OutOfMemoryError
     */
    UnconfirmedMessages(IntFunction<MemorySegment> allocator) {
        this.allocator = allocator;
        rings[0] = allocator.apply(RING_BYTES[0]);
    }

    static int mostRings() {
        return RING_BYTES.length;
    }

    /** The number of the ring that copies go to, from 0; those before may still hold some. */
    int ring() {
        return ring;
    }

    /** Returns where a ring is, for who registers it. */
    long ringAddress(int number) {
        return rings[number].address();
    }

    int ringBytes(int number) {
        return RING_BYTES[number];
    }

    /**
     * If a message of that size is to be copied and does not fit, and there is a larger ring, further copies go to that
     * one. Those that are here stay where they are.
     *
     * @return whether they do; not if there is no memory: the ring has to be enough then, and what is too long for it
     *     is not copied
     */
    boolean grow(int size) {
        if (!isCopied(size) || fits(size) || ring == RING_BYTES.length - 1 || longestCopy < LONGEST_COPY) {
            return false;
        }
        int next = ring + 1;
        while (size > RING_BYTES[next] / LONGEST_OF_RING) {
            next++;
        }
        try {
            rings[next] = allocator.apply(RING_BYTES[next]);
        } catch (OutOfMemoryError e) {
            longestCopy = ringBytes / LONGEST_OF_RING;
            return false;
        }
        ring = next;
        ringBytes = RING_BYTES[next];
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

    private boolean isCopied(int size) {
        return size <= longestCopy;
    }

    boolean hasRoom(int size) {
        return next - oldest < MAX && (!isCopied(size) || fits(size));
    }

    private boolean fits(int size) {
        return size <= ringBytes / LONGEST_OF_RING && place(size) + size - free <= ringBytes;
    }

    /** Returns where in the ring's count the next copy begins: none crosses its end. */
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
            long at = rings[ring].address() + (begin & (ringBytes - 1));
            Memory.copy(address, at, size);
            addresses[slot] = at;
            used = begin + ((size + LINE - 1) & -LINE);
        } else {
            addresses[slot] = address;
        }
        memories[slot] = copied ? null : memory;
        ringOf[slot] = (byte) ring;
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

    /** Notes that the message that was added last asks the peer how far it is, if it is time for that; true if so. */
    boolean askIfDue() {
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

    long bytes() {
        long bytes = 0;
        for (long sequence = oldest; sequence < next; sequence++) {
            bytes += size(sequence);
        }
        return bytes;
    }

    /** Address of a message that is here, as are the following. */
    long address(long sequence) {
        return addresses[(int) sequence & MASK];
    }

    int size(long sequence) {
        return sizes[(int) sequence & MASK];
    }

    int tag(long sequence) {
        return tags[(int) sequence & MASK];
    }

    /** The ring with its copy. */
    int ring(long sequence) {
        return ringOf[(int) sequence & MASK];
    }

    /** Null if it was copied. */
    @Nullable
    RegisteredMemory memory(long sequence) {
        return memories[(int) sequence & MASK];
    }

    void clear() {
        Arrays.fill(memories, null);
        oldest = next;
        free = used;
    }
}
