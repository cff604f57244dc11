package trigon.relay;

import java.util.concurrent.atomic.AtomicLong;

/** Counts of a relay. Written by its thread, read by any. */
public final class RelayCounts {

    private final AtomicLong circuits = new AtomicLong();
    private final AtomicLong strangers = new AtomicLong();
    private final AtomicLong opened = new AtomicLong();
    private final AtomicLong refused = new AtomicLong();
    private final AtomicLong bytes = new AtomicLong();
    private final AtomicLong slotBytes = new AtomicLong();

    RelayCounts() {}

    /** Circuits that are admitted and not over. */
    public long circuits() {
        return circuits.get();
    }

    /** Connections that are open and not admitted. */
    public long strangers() {
        return strangers.get();
    }

    /** Circuits that have been open. */
    public long opened() {
        return opened.get();
    }

    /** Connections that were refused, or closed since they asked for nothing. */
    public long refused() {
        return refused.get();
    }

    /** Bytes passed on, both directions together. */
    public long bytes() {
        return bytes.get();
    }

    /** Memory of the slots, in bytes. */
    public long slotBytes() {
        return slotBytes.get();
    }

    // ---- the relay's thread

    void moved(int written) {
        bytes.lazySet(bytes.getPlain() + written);
    }

    void taken(int circuitsNow, int strangersNow, long slotBytesNow) {
        circuits.lazySet(circuitsNow);
        strangers.lazySet(strangersNow);
        slotBytes.lazySet(slotBytesNow);
    }

    void openedOne() {
        opened.lazySet(opened.getPlain() + 1);
    }

    void refusedOne() {
        refused.lazySet(refused.getPlain() + 1);
    }
}
