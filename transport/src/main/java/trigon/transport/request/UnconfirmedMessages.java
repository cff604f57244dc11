package trigon.transport.request;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongFunction;
import trigon.system.Memory;
import trigon.system.Pages;
import trigon.verbs.AccessFlag;
import trigon.verbs.MemoryRegion;
import trigon.verbs.ProtectionDomain;

/**
 * The messages of an eager sender that its peer has not confirmed, so that they can be sent again over another path:
 * {@code struct unconfirmed} of {@code lane/lane.h}, where the lane adds and removes them. This has the memory of the
 * rings into which short ones are copied, the larger of which take room only once the lane uses them. It is freed once
 * nothing refers to it any more: a request that comes late must not find another's.
 *
 * <p>For who has the lane. Allocates nothing after construction.
 */
public final class UnconfirmedMessages implements AutoCloseable {

    /**
     * Longer messages are not copied. NCCL begins the next collective on a connection when all messages of the one
     * before are done, so what the peer has to confirm first delays it; a copy of this length takes some 4 us, and is
     * spared if the peer confirms the message soon.
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

    private static final long RINGS = 0;
    private static final long RING_STRIDE = 16;
    private static final long RING_ADDRESS = 0;
    private static final long RING_LENGTH = 8;
    private static final long RING_KEY = 12;

    private static final long LONGEST = 52;
    private static final long ASKS = 56;
    private static final long OLDEST = 64;
    private static final long MESSAGES = 104;
    private static final long MESSAGE_BYTES = 40;
    private static final long MESSAGE_MEMORY = 8;
    private static final long MESSAGE_SIZE = 24;
    private static final long BYTES = MESSAGES + MAX * MESSAGE_BYTES;

    private final MemorySegment state;
    private final long address;

    /** The rings that there are, one behind the other: all of them, or the first one. */
    private final MemorySegment memory;

    private final int rings;
    private final Map<ProtectionDomain, MemoryRegion> regions = new HashMap<>();

    /** None, in rings that are registered there. */
    public UnconfirmedMessages(ProtectionDomain protectionDomain) {
        this(protectionDomain, Pages::allocate);
    }

    /**
     * With rings of another memory; where there is none, what is too long for the first ring is not copied.
     *
     * @param allocator gives so many bytes, which take no room before they are used; or nothing
     */
    UnconfirmedMessages(ProtectionDomain protectionDomain, LongFunction<Optional<MemorySegment>> allocator) {
        state = Arena.ofAuto().allocate(BYTES, LINE);
        address = state.address();
        Optional<MemorySegment> all =
                allocator.apply(Arrays.stream(RING_BYTES).asLongStream().sum());
        rings = all.isPresent() ? RING_BYTES.length : 1;
        memory = all.orElseGet(() -> Arena.ofAuto().allocate(RING_BYTES[0], LINE));
        long begin = memory.address();
        for (int number = 0; number < rings; number++) {
            Memory.putLong(ringAt(number) + RING_ADDRESS, begin);
            Memory.putInt(ringAt(number) + RING_LENGTH, RING_BYTES[number]);
            begin += RING_BYTES[number];
        }
        Memory.putInt(address + LONGEST, Math.min(LONGEST_COPY, RING_BYTES[rings - 1] / LONGEST_OF_RING));
        moveTo(protectionDomain);
    }

    private long ringAt(int number) {
        return address + RINGS + number * RING_STRIDE;
    }

    /** The numbers that the entry library has, too, by the names there. */
    public static Map<String, Long> facts() {
        Map<String, Long> facts = new LinkedHashMap<>();
        facts.put("unconfirmed.most", (long) MAX);
        facts.put("unconfirmed.rings", (long) RING_BYTES.length);
        facts.put("unconfirmed.part", (long) LONGEST_OF_RING);
        facts.put("unconfirmed", BYTES);
        facts.put("unconfirmed.longest_copy", LONGEST);
        facts.put("unconfirmed.asks", ASKS);
        facts.put("unconfirmed.oldest", OLDEST);
        facts.put("unconfirmed.messages", MESSAGES);
        facts.put("copy_ring", RING_STRIDE);
        facts.put("copy_ring.address", RING_ADDRESS);
        facts.put("copy_ring.bytes", RING_LENGTH);
        facts.put("copy_ring.key", RING_KEY);
        facts.put("unconfirmed_message", MESSAGE_BYTES);
        facts.put("unconfirmed_message.memory", MESSAGE_MEMORY);
        facts.put("unconfirmed_message.size", MESSAGE_SIZE);
        return facts;
    }

    /** Address of the struct; it lives as long as this. */
    public long address() {
        return address;
    }

    /**
     * The rings are registered there, too, and used with that from now on. Where they were they stay: a device that
     * lets go of memory asks each of its queue pairs before, and hundreds of connections may move at once.
     */
    public void moveTo(ProtectionDomain next) {
        MemoryRegion region = regions.computeIfAbsent(
                next,
                domain -> domain.registerMemory(memory.address(), memory.byteSize(), EnumSet.noneOf(AccessFlag.class)));
        for (int number = 0; number < rings; number++) {
            Memory.putInt(ringAt(number) + RING_KEY, region.localKey());
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

    /** The handle of a message's registration; 0 if it is copied, be it later than it was sent. */
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
        regions.values().forEach(MemoryRegion::close);
        regions.clear();
    }
}
