package trigon.verbs;

import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;

/** Counts the native objects that are open, so that a leak shows. Thread-safe; control path only. */
public final class ResourceLedger {

    /** The kinds of objects that libibverbs, or the software device, opens for this process. */
    public enum Kind {
        DEVICE_CONTEXT,
        PROTECTION_DOMAIN,
        MEMORY_REGION,
        COMPLETION_QUEUE,
        QUEUE_PAIR
    }

    private final Map<Kind, AtomicInteger> open = new EnumMap<>(Kind.class);

    public ResourceLedger() {
        for (Kind kind : Kind.values()) {
            open.put(kind, new AtomicInteger());
        }
    }

    /** Notes that one was created. */
    public void opened(Kind kind) {
        counter(kind).incrementAndGet();
    }

    /** Notes that one was destroyed. */
    public void closed(Kind kind) {
        int left = counter(kind).decrementAndGet();
        if (left < 0) {
            throw new IllegalStateException(kind + " closed more often than opened");
        }
    }

    /** The number that are open now. */
    public int count(Kind kind) {
        return counter(kind).get();
    }

    /** The kinds of which some are open now, with their counts. Empty if nothing is. */
    public Map<Kind, Integer> outstanding() {
        Map<Kind, Integer> result = new EnumMap<>(Kind.class);
        for (Kind kind : Kind.values()) {
            if (count(kind) != 0) {
                result.put(kind, count(kind));
            }
        }
        return result;
    }

    private AtomicInteger counter(Kind kind) {
        return Objects.requireNonNull(open.get(kind));
    }
}
