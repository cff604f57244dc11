package trigon.verbs.ffm.struct;

import java.lang.foreign.Arena;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Native memory for the work requests of a device's queue pairs, a piece for each. Pieces pass from a queue pair that
 * is closed to the next one: an arena for each would have to be closed, for which the JVM stops all threads that run
 * Java, NCCL's among them.
 *
 * <p>Thread-safe. Closed with the device, when no piece is out.
 */
public final class WorkRequestMemory implements AutoCloseable {

    private static final int CACHE_LINE = 64;

    /** Room for a {@link SendWorkRequests}, a {@link ReceiveWorkRequest} and two pointers. */
    private static final int NEEDED = SendWorkRequests.BYTES + 2 * CACHE_LINE;

    /** An odd number of lines: the same request of many queue pairs does not compete for the same sets of a cache. */
    private static final int PIECE = NEEDED % (2 * CACHE_LINE) == 0 ? NEEDED + CACHE_LINE : NEEDED;

    private static final int PIECES_AT_ONCE = 16;

    private final Arena arena = Arena.ofShared();
    private final Deque<MemorySegment> free = new ArrayDeque<>();

    /** A piece with anything in it. */
    public synchronized MemorySegment take() {
        if (free.isEmpty()) {
            arena.allocate((long) PIECE * PIECES_AT_ONCE, CACHE_LINE)
                    .elements(MemoryLayout.sequenceLayout(PIECE, ValueLayout.JAVA_BYTE))
                    .forEach(free::addLast);
        }
        return free.removeFirst();
    }

    /** Gives it back; its queue pair is destroyed. */
    public synchronized void giveBack(MemorySegment piece) {
        free.addFirst(piece);
    }

    @Override
    public synchronized void close() {
        arena.close();
    }
}
