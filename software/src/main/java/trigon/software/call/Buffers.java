package trigon.software.call;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Native memory for buffers, freed when they are collected. Before the JVM says that there is none, it collects garbage
 * and waits for half a second: once it has said so, nobody else waits for the same within some seconds, unless memory
 * has come free. Else the event loop would spend its time with connections for which there is no room. Thread-safe.
 */
public final class Buffers {

    private static final long NOT_AGAIN_NANOS = TimeUnit.SECONDS.toNanos(5);

    /** Loaded when there is a shortage: management takes long to start. */
    private static final class Direct {

        private static final BufferPoolMXBean POOL =
                ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                        .filter(pool -> pool.getName().equals("direct"))
                        .findFirst()
                        .orElseThrow();
    }

    /** Nothing has failed yet, or when and with how much in use it did. */
    private static volatile Shortage shortage = new Shortage(System.nanoTime() - NOT_AGAIN_NANOS, Long.MAX_VALUE);

    private record Shortage(long since, long used) {}

    private Buffers() {}

    /**
     * A direct buffer.
     *
     * @throws OutOfMemoryError if there is no memory
     */
    public static ByteBuffer allocate(int bytes) {
        return allocated(bytes, () -> ByteBuffer.allocateDirect(bytes));
    }

    /**
     * A segment aligned to 8 bytes.
     *
     * @throws OutOfMemoryError if there is no memory
     */
    public static MemorySegment allocateSegment(long bytes) {
        return allocated(bytes, () -> Arena.ofAuto().allocate(bytes, Long.BYTES));
    }

    private static <T> T allocated(long bytes, Supplier<T> allocation) {
        Shortage last = shortage;
        if (System.nanoTime() - last.since < NOT_AGAIN_NANOS && Direct.POOL.getMemoryUsed() + bytes > last.used) {
            throw new OutOfMemoryError("no direct memory for " + bytes + " bytes, as a moment ago");
        }
        try {
            return allocation.get();
        } catch (OutOfMemoryError e) {
            shortage = new Shortage(System.nanoTime(), Direct.POOL.getMemoryUsed());
            throw e;
        }
    }
}
