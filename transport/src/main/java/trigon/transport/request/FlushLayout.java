package trigon.transport.request;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The layout of a session's flushes, which the entry library shares: {@code struct flushes} of {@code lane/flush.h},
 * with a {@code struct flush} for each. When the library starts, these numbers are compared with its own.
 */
public final class FlushLayout {

    /** In a session's flushes: the device that the library READs by, 8 bytes; or 0. */
    public static final long DEVICE = 0;

    /** In a session's flushes: number of the next one, 8 bytes. */
    public static final long NEXT = 8;

    /** In a session's flushes: each of them, by its number. */
    public static final long ALL = 16;

    public static final long FLUSH_BYTES = 32;

    public static final long BYTES = ALL + RequestRow.REQUESTS * FLUSH_BYTES;

    /** In a flush: its handle, 8 bytes; 0 once NCCL has heard of its end. */
    public static final long REQUEST = 0;

    public static final long ADDRESS = 8;
    public static final long MEMORY = 16;

    /** In a flush: whether devices have been asked for READs, and READs that they owe, 4 bytes each. */
    public static final long BEGUN = 24;

    public static final long READS = 28;

    private FlushLayout() {}

    /** The numbers that the entry library has, too, by the names there. */
    public static Map<String, Long> facts() {
        Map<String, Long> facts = new LinkedHashMap<>();
        facts.put("flushes", BYTES);
        facts.put("flushes.next", NEXT);
        facts.put("flushes.all", ALL);
        facts.put("flush", FLUSH_BYTES);
        facts.put("flush.address", ADDRESS);
        facts.put("flush.memory", MEMORY);
        facts.put("flush.begun", BEGUN);
        facts.put("flush.reads", READS);
        facts.putAll(FlushReads.facts());
        return facts;
    }
}
