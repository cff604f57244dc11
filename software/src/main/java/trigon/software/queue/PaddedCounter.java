package trigon.software.queue;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** A counter that one thread advances and others read, on a cache line of its own. */
public final class PaddedCounter {

    private static final VarHandle ELEMENT = MethodHandles.arrayElementVarHandle(long[].class);
    private static final int LONGS_PER_TWO_LINES = 16;

    private final long[] cell = new long[2 * LONGS_PER_TWO_LINES];

    /** For the thread that advances it, or who holds the lock under which it is advanced. */
    public long get() {
        return cell[LONGS_PER_TWO_LINES];
    }

    /** With what the thread that advanced it had written before. */
    public long getAcquire() {
        return (long) ELEMENT.getAcquire(cell, LONGS_PER_TWO_LINES);
    }

    /** Advances it; whoever sees that sees what was written before. */
    public void setRelease(long value) {
        ELEMENT.setRelease(cell, LONGS_PER_TWO_LINES, value);
    }

    /** In the total order of volatile accesses: for "publish, then see whether the other side sleeps". */
    public long getVolatile() {
        return (long) ELEMENT.getVolatile(cell, LONGS_PER_TWO_LINES);
    }

    /** For where several threads advance it. */
    boolean compareAndSet(long expected, long value) {
        return ELEMENT.compareAndSet(cell, LONGS_PER_TWO_LINES, expected, value);
    }

    /** Advances it in the total order of volatile accesses. */
    public void setVolatile(long value) {
        ELEMENT.setVolatile(cell, LONGS_PER_TWO_LINES, value);
    }
}
