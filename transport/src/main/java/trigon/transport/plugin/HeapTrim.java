package trigon.transport.plugin;

import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * Has the heap collected when it has grown to twice its size, or when what has made it grow by half is over: a burst of
 * connections, or of strangers' datagrams. The Serial collector looks at what has outlived the young generation only
 * when the heap is at its limit, and gives nothing back before; {@code options.c} has it shrink the heap to what is in
 * use. A collection stops the process's Java threads for 30 to 70 ms. One thread.
 */
final class HeapTrim {

    /** From one look to the next. */
    static final Duration INTERVAL = Duration.ofSeconds(10);

    private static final int GROWTH = 2;

    private final LongSupplier committed;
    private final Runnable collect;
    private final long initial;
    private long trimmed;
    private long last;

    /**
     * Takes the heap's size now as that of a process at rest.
     *
     * @param committed bytes of the heap that have memory
     * @param collect collects all garbage; what is free then may be given back
     */
    HeapTrim(LongSupplier committed, Runnable collect) {
        this.committed = committed;
        this.collect = collect;
        initial = committed.getAsLong();
        trimmed = initial;
    }

    /** Looks at the heap that it is in itself. */
    static HeapTrim ofThisJvm() {
        Runtime runtime = Runtime.getRuntime();
        return new HeapTrim(runtime::totalMemory, runtime::gc);
    }

    /** Collects if the heap has grown since the last time. */
    void look() {
        long now = committed.getAsLong();
        boolean isOver = now == last;
        last = now;
        if (now >= GROWTH * trimmed || (isOver && now >= trimmed + trimmed / 2)) {
            collect.run();
            trimmed = Math.max(initial, committed.getAsLong());
        }
    }
}
