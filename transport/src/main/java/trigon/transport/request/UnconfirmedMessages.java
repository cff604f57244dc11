package trigon.transport.request;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;
import trigon.system.Memory;
import trigon.verbs.AccessFlag;
import trigon.verbs.MemoryRegion;
import trigon.verbs.ProtectionDomain;

/**
 * The messages of an eager sender that its peer has not confirmed, so that they can be sent again over another path:
 * {@code struct unconfirmed} of {@code lane/lane.h}, where the lane adds and removes them. This has the memory of the
 * rings into which short ones are copied. It is freed once nothing refers to it any more: a request that comes late
 * must not find another's.
 *
 * <p>For who has the lane. Allocates after construction only when the ring {@linkplain #grow grows}, at most twice.
 */
public final class UnconfirmedMessages implements AutoCloseable {

    /**
     * Longer messages are not copied. NCCL begins the next collective on a connection when all messages of the one
     * before are done, so what the peer has to confirm first delays it; a copy of this length takes some 4 us.
     */
    public static final int LONGEST_COPY = 64 << 10;

    /**
     * Bytes of the rings, each in use from when the one before was too small: a job has thousands of connections, and
     * most have few short messages under way.
     */
    private static final int[] RING_BYTES = {16 << 10, 128 << 10, 1 << 20};

    /** The longest message that a ring takes, as a part of it. */
    private static final int LONGEST_OF_RING = 4;

    /** Messages that may be unconfirmed, a power of two. */
    public static final int MAX = 256;

    private static final int LINE = 64;

    private static final long RING = 0;
    private static final long BYTES_OF_RING = 8;
    private static final long RING_NUMBER = 12;
    private static final long LONGEST = 16;
    private static final long MAY_GROW = 20;
    private static final long ASKS = 24;
    private static final long KEYS = 28;
    private static final long OLDEST = 40;

    /** Bytes of the ring that are used, free, and those when the peer was asked last; 8 each. */
    private static final long USED = 48;

    private static final long MESSAGES = 80;
    private static final long MESSAGE_BYTES = 40;
    private static final long MESSAGE_MEMORY = 8;
    private static final long MESSAGE_END = 16;
    private static final long MESSAGE_SIZE = 24;
    private static final long BYTES = MESSAGES + MAX * MESSAGE_BYTES;

    private final IntFunction<MemorySegment> allocator;
    private final MemorySegment state;
    private final long address;

    /** By their numbers; null: there is no such ring. */
    private final @Nullable MemorySegment[] rings = new @Nullable MemorySegment[RING_BYTES.length];

    private final @Nullable MemoryRegion[] regions = new @Nullable MemoryRegion[RING_BYTES.length];
    private ProtectionDomain protectionDomain;

    /** None, in rings that are registered there. */
    public UnconfirmedMessages(ProtectionDomain protectionDomain) {
        this(protectionDomain, bytes -> Arena.ofAuto().allocate(bytes, LINE));
    }

    /**
     * With memory of another kind.
     *
     * @param allocator gives so many bytes, which begin with a line of the cache, or throws OutOfMemoryError
     */
    UnconfirmedMessages(ProtectionDomain protectionDomain, IntFunction<MemorySegment> allocator) {
        this.allocator = allocator;
        this.protectionDomain = protectionDomain;
        state = Arena.ofAuto().allocate(BYTES, LINE);
        address = state.address();
        Memory.putInt(address + LONGEST, LONGEST_COPY);
        use(0, allocator.apply(RING_BYTES[0]));
    }

    /** The numbers that the entry library has, too, by the names there. */
    public static Map<String, Long> facts() {
        Map<String, Long> facts = new LinkedHashMap<>();
        facts.put("unconfirmed.most", (long) MAX);
        facts.put("unconfirmed.rings", (long) RING_BYTES.length);
        facts.put("unconfirmed.part", (long) LONGEST_OF_RING);
        facts.put("unconfirmed", BYTES);
        facts.put("unconfirmed.ring", RING);
        facts.put("unconfirmed.ring_bytes", BYTES_OF_RING);
        facts.put("unconfirmed.ring_number", RING_NUMBER);
        facts.put("unconfirmed.longest_copy", LONGEST);
        facts.put("unconfirmed.may_grow", MAY_GROW);
        facts.put("unconfirmed.asks", ASKS);
        facts.put("unconfirmed.keys", KEYS);
        facts.put("unconfirmed.oldest", OLDEST);
        facts.put("unconfirmed.used", USED);
        facts.put("unconfirmed.messages", MESSAGES);
        facts.put("unconfirmed_message", MESSAGE_BYTES);
        facts.put("unconfirmed_message.memory", MESSAGE_MEMORY);
        facts.put("unconfirmed_message.end", MESSAGE_END);
        facts.put("unconfirmed_message.size", MESSAGE_SIZE);
        return facts;
    }

    /** Address of the struct; it lives as long as this. */
    public long address() {
        return address;
    }

    /** Further copies go to that ring. Those that are there stay where they are. */
    private void use(int number, MemorySegment ring) {
        rings[number] = ring;
        register(number);
        Memory.putLong(address + RING, ring.address());
        Memory.putInt(address + BYTES_OF_RING, RING_BYTES[number]);
        Memory.putInt(address + RING_NUMBER, number);
        Memory.putInt(address + MAY_GROW, number < RING_BYTES.length - 1 ? 1 : 0);
        Memory.fill(address + USED, 3L * Long.BYTES, (byte) 0);
        for (long sequence = 0; sequence < MAX; sequence++) {
            Memory.putLong(message(sequence) + MESSAGE_END, 0);
        }
    }

    private void register(int number) {
        MemoryRegion region = protectionDomain.registerMemory(
                ringOf(number).address(), RING_BYTES[number], EnumSet.noneOf(AccessFlag.class));
        regions[number] = region;
        Memory.putInt(address + KEYS + (long) number * Integer.BYTES, region.localKey());
    }

    private MemorySegment ringOf(int number) {
        return Objects.requireNonNull(rings[number]);
    }

    /**
     * The ring is too small for a message of that size, and there is a larger one: takes that. If there is no memory,
     * the ring has to be enough from now on, and what is too long for it is not copied.
     */
    public void grow(int size) {
        int next = Memory.getInt(address + RING_NUMBER) + 1;
        while (size > RING_BYTES[next] / LONGEST_OF_RING) {
            next++;
        }
        MemorySegment ring;
        try {
            ring = allocator.apply(RING_BYTES[next]);
        } catch (OutOfMemoryError e) {
            Memory.putInt(address + MAY_GROW, 0);
            Memory.putInt(address + LONGEST, Memory.getInt(address + BYTES_OF_RING) / LONGEST_OF_RING);
            return;
        }
        use(next, ring);
    }

    /** The rings are registered there from now on. */
    public void moveTo(ProtectionDomain next) {
        if (next.equals(protectionDomain)) {
            return;
        }
        protectionDomain = next;
        for (int number = 0; number < rings.length; number++) {
            MemoryRegion former = regions[number];
            if (former != null) {
                former.close();
                register(number);
            }
        }
    }

    /** The next message asks the peer how far it is. */
    public void askWithNext() {
        Memory.putInt(address + ASKS, 1);
    }

    /** Tells whether a message has asked since {@link #askWithNext}. */
    public boolean hasAsked() {
        return Memory.getInt(address + ASKS) == 0;
    }

    /** The oldest message; the next one if there is none. */
    public long oldest() {
        return Memory.getLong(address + OLDEST);
    }

    /** The handle of a message's registration; 0 if it is copied. */
    public long memory(long sequence) {
        return Memory.getLong(message(sequence) + MESSAGE_MEMORY);
    }

    /**
     * Payload that may have to be sent again.
     *
     * @param end one past the newest message
     */
    public long bytes(long end) {
        long bytes = 0;
        for (long sequence = oldest(); sequence < end; sequence++) {
            bytes += Memory.getInt(message(sequence) + MESSAGE_SIZE);
        }
        return bytes;
    }

    private long message(long sequence) {
        return address + MESSAGES + (sequence & (MAX - 1)) * MESSAGE_BYTES;
    }

    /** After the queue pair that has posted from the rings. */
    @Override
    public void close() {
        for (MemoryRegion region : regions) {
            if (region != null) {
                region.close();
            }
        }
    }
}
