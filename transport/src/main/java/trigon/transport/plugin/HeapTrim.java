package trigon.transport.plugin;

import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.function.LongSupplier;

/**
 * Has the heap collected when it has grown to twice its size, or when what has made it grow by half is over: a burst of
 * connections, or of strangers' datagrams. The Serial collector looks at what has outlived the young generation only
 * when the heap is at its limit, and gives nothing back before; {@code options.c} has it shrink the heap to what is in
 * use. A collection stops the process's Java threads for 30 to 70 ms, and by other collectors its own for longer: it is
 * done on a control thread. Looks come from one thread.
 */
final class HeapTrim {

    /** From one look to the next. */
    static final Duration INTERVAL = Duration.ofSeconds(10);

    private static final int GROWTH = 2;

    private final LongSupplier committed;
    private final Runnable collect;
    private final Executor control;
    private final long initial;
    private volatile long trimmed;
    private long last;

    /**
     * Takes the heap's size now as that of a process at rest.
     *
     * @param committed bytes of the heap that have memory
     * @param collect collects all garbage; what is free then may be given back
     * @param control runs what may block
     */
    HeapTrim(LongSupplier committed, Runnable collect, Executor control) {
        this.committed = committed;
        this.collect = collect;
        this.control = control;
        initial = committed.getAsLong();
        trimmed = initial;
    }

    /** Looks at the heap that it is in itself. */
    static HeapTrim ofThisJvm(Executor control) {
        Runtime runtime = Runtime.getRuntime();
        return new HeapTrim(runtime::totalMemory, runtime::gc, control);
    }

    /** Has it collected if it has grown since the last time. Does not block. */
    void look() {
        long now = committed.getAsLong();
        boolean isOver = now == last;
        last = now;
        if (now >= GROWTH * trimmed || (isOver && now >= trimmed + trimmed / 2)) {
            control.execute(this::trim);
        }
    }

    private void trim() {
        collect.run();
        trimmed = Math.max(initial, committed.getAsLong());
    }
}
