package trigon.transport;

import java.lang.foreign.Arena;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import trigon.verbs.Memory;

/**
 * The memory of a link's {@link ClearToSendRing}s, which share pages: a process may have thousands of rings, and a page each
 * would be as much memory again, and an entry of the TLB for each message.
 *
 * <p>Pages hold nothing else: after ibv_fork_init, registered pages are not there in a forked child, nor what shares them. A
 * ring never crosses a page's end, so that it counts as one page of locked memory. Rings do not begin at multiples of their
 * length: the same entry of many rings would compete for the same sets of a cache.
 *
 * <p>Thread-safe. What was taken once stays until {@link #close}, which comes after the last ring's end.
 */
final class ClearToSendMemory implements AutoCloseable {

    private static final int PAGE_BYTES = 4096;
    private static final int PAGES_AT_ONCE = 8;
    private static final int LINE = 64;

    private final Arena arena = Arena.ofShared();
    private final Map<Integer, Deque<Long>> free = new HashMap<>();
    private int pages;

    /** Memory for a ring, zeroed. */
    synchronized long take(int bytes) {
        Deque<Long> places = free.computeIfAbsent(bytes, _ -> new ArrayDeque<>());
        if (places.isEmpty()) {
            addPlaces(bytes, places);
        }
        long address = places.removeFirst();
        Memory.fill(address, bytes, (byte) 0);
        return address;
    }

    private void addPlaces(int bytes, Deque<Long> places) {
        long first =
                arena.allocate((long) PAGES_AT_ONCE * PAGE_BYTES, PAGE_BYTES).address();
        int stride = bytes + LINE;
        int perPage = Math.max(1, PAGE_BYTES / stride);
        int shifts = 1 + (PAGE_BYTES - (perPage * stride - LINE)) / LINE;
        for (int page = 0; page < PAGES_AT_ONCE; page++) {
            long begin = first + (long) page * PAGE_BYTES + (long) (pages++ % shifts) * LINE;
            for (int i = 0; i < perPage; i++) {
                places.addLast(begin + (long) i * stride);
            }
        }
    }

    /** Gives it back; it is no longer registered. */
    synchronized void giveBack(long address, int bytes) {
        free.getOrDefault(bytes, new ArrayDeque<>()).addFirst(address);
    }

    @Override
    public synchronized void close() {
        free.clear();
        arena.close();
    }
}
