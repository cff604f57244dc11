package trigon.transport.request;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.LongStream;
import trigon.system.Memory;
import trigon.verbs.CompletionQueue;
import trigon.verbs.NativePoll;
import trigon.verbs.NativePost;
import trigon.verbs.QueuePair;

/**
 * The READs of one device for a session's flushes, in memory that the entry library shares ({@code struct flush_device}
 * of {@code lane/flush.h}), and C's functions for them. A flush is known by its address, see {@link FlushLayout}.
 *
 * <p>For who has the session's lane. Allocates nothing after construction, except by {@link #underWay}.
 */
public final class FlushReads {

    private static final long QUEUE_PAIR = 0;
    private static final long QUEUE = 8;
    private static final long POST_SEND = 16;
    private static final long POLL = 24;
    private static final long LANDING = 32;
    private static final long LANDING_KEY = 40;
    private static final long TROUBLE = 44;
    private static final long OWED = 48;
    private static final long DONE = 56;
    private static final long FLUSHES = 64;
    private static final long BYTES = FLUSHES + RequestRow.REQUESTS * Long.BYTES;

    private static final int LINE = 64;

    private final LaneFunctions functions;
    private final MemorySegment device = Arena.ofAuto().allocate(BYTES, LINE);
    private final long address = device.address();

    /** Those of a device that owes none yet. */
    public FlushReads(LaneFunctions functions) {
        this.functions = functions;
    }

    /** The numbers that the entry library has, too, by the names there. */
    static Map<String, Long> facts() {
        Map<String, Long> facts = new LinkedHashMap<>();
        facts.put("flush_device", BYTES);
        facts.put("flush_device.queue", QUEUE);
        facts.put("flush_device.post_send", POST_SEND);
        facts.put("flush_device.poll", POLL);
        facts.put("flush_device.landing", LANDING);
        facts.put("flush_device.landing_key", LANDING_KEY);
        facts.put("flush_device.trouble", TROUBLE);
        facts.put("flush_device.owed", OWED);
        facts.put("flush_device.done", DONE);
        facts.put("flush_device.flushes", FLUSHES);
        return facts;
    }

    /** Address of the struct; it lives as long as this. */
    public long address() {
        return address;
    }

    /** Goes by that queue pair from now on, which C can post to, and writes where it may. */
    public void use(QueuePair queuePair, CompletionQueue queue, long landing, int landingKey) {
        NativePost post = queuePair.nativePost().orElseThrow();
        NativePoll poll = queue.nativePoll().orElseThrow();
        Memory.putLong(address + QUEUE_PAIR, post.queuePair());
        Memory.putLong(address + POST_SEND, post.send());
        Memory.putLong(address + QUEUE, poll.queue());
        Memory.putLong(address + POLL, poll.function());
        Memory.putLong(address + LANDING, landing);
        Memory.putInt(address + LANDING_KEY, landingKey);
        Memory.putInt(address + TROUBLE, 0);
    }

    /** READs that the device has been asked for so far. */
    public long owed() {
        return Memory.getLong(address + OWED);
    }

    /** The oldest ones of these, which have come back: a device does READs in their order. */
    public long done() {
        return Memory.getLong(address + DONE);
    }

    /** Flushes whose READs have not come back, in the order of these. */
    public LongStream underWay() {
        return LongStream.range(done(), owed())
                .map(read -> Memory.getLong(address + FLUSHES + Requests.slot(read) * (long) Long.BYTES));
    }

    /** The device owes a flush a READ, which {@link #post} posts. */
    public void owe(long flush) {
        functions.flushOwe(address, flush);
    }

    /** Posts a READ of memory that has that key with the device; 0 or an errno. */
    public int post(long flush, int key) {
        return functions.flushPost(address, Memory.getLong(flush + FlushLayout.ADDRESS), key);
    }

    /** The oldest READ is done, whoever says so. */
    public void finish() {
        functions.flushFinish(address);
    }

    /**
     * Takes READs that are done, as the library does.
     *
     * @return the code of a READ's failure, or less than 0, a poll's errno; 0: there is none
     */
    public int poll() {
        return functions.flushPoll(address) ? 0 : NativePoll.result(Memory.getInt(address + TROUBLE));
    }
}
