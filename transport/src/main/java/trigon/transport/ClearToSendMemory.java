package trigon.transport;

import java.lang.foreign.Arena;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import trigon.verbs.Memory;

/**
 * The memory of a link's {@link ClearToSendRing}s, which share pages: a process may have thousands of rings, and a page each
 * would be as much memory again, and an entry of the TLB for each message.
 *
 * <p>Pages hold nothing else: after ibv_fork_init, registered pages are not there in a forked child, nor what shares them. A
 * ring never crosses a page's end, so that it counts as one page of locked memory. Where there is room, rings do not begin at
 * multiples of their length: the same entry of many rings would compete for the same sets of a cache.
 *
 * <p>Thread-safe. Some pages are allocated at a time, and freed when no ring is left in them, unless no other pages are spare: a
 * connection that comes and goes would have pages freed each time, for which the JVM stops all threads that run Java. Closed after
 * the last ring.
 */
final class ClearToSendMemory implements AutoCloseable {

    private static final int PAGE_BYTES = 4096;
    private static final int PAGES_AT_ONCE = 8;
    private static final int LINE = 64;

    /** Pages with rings of one length. */
    private static final class Block {
        private final int bytes;
        private final Arena arena = Arena.ofShared();
        private final long address =
                arena.allocate((long) PAGES_AT_ONCE * PAGE_BYTES, PAGE_BYTES).address();
        private final Deque<Long> free = new ArrayDeque<>();
        private final int places;

        Block(int bytes) {
            this.bytes = bytes;
            int apart = PAGE_BYTES / (bytes + LINE) > 1 ? bytes + LINE : bytes;
            int perPage = PAGE_BYTES / apart;
            int shifts = 1 + (PAGE_BYTES - (perPage - 1) * apart - bytes) / LINE;
            for (int page = 0; page < PAGES_AT_ONCE; page++) {
                long begin = address + (long) page * PAGE_BYTES + (long) (page % shifts) * LINE;
                for (int i = 0; i < perPage; i++) {
                    free.addLast(begin + (long) i * apart);
                }
            }
            places = free.size();
        }

        boolean has(long ring) {
            return ring >= address && ring < address + (long) PAGES_AT_ONCE * PAGE_BYTES;
        }

        boolean isUnused() {
            return free.size() == places;
        }
    }

    private final List<Block> blocks = new ArrayList<>();

    /** Memory for a ring, zeroed. */
    synchronized long take(int bytes) {
        Block block = blocks.stream()
                .filter(each -> each.bytes == bytes && !each.free.isEmpty())
                .findFirst()
                .orElseGet(() -> addBlock(bytes));
        long ring = block.free.removeFirst();
        Memory.fill(ring, bytes, (byte) 0);
        return ring;
    }

    private Block addBlock(int bytes) {
        Block block = new Block(bytes);
        blocks.add(block);
        return block;
    }

    /** Gives it back; it is no longer registered. */
    synchronized void giveBack(long ring) {
        Block block = blocks.stream().filter(each -> each.has(ring)).findFirst().orElseThrow();
        block.free.addFirst(ring);
        if (block.isUnused()
                && blocks.stream().anyMatch(each -> each != block && each.bytes == block.bytes && each.isUnused())) {
            blocks.remove(block);
            block.arena.close();
        }
    }

    @Override
    public synchronized void close() {
        blocks.forEach(block -> block.arena.close());
        blocks.clear();
    }
}
