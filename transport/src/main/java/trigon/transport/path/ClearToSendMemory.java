package trigon.transport.path;

import java.lang.foreign.Arena;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import trigon.system.Memory;

/**
 * The memory of a link's {@link ClearToSendRing}s, which share pages: a process may have thousands of rings, and a page
 * each would be as much memory again, and an entry of the TLB for each message.
 *
 * <p>Pages hold nothing else: after ibv_fork_init, registered pages are not there in a forked child, nor what shares
 * them. A ring never crosses a page's end, so that it counts as one page of locked memory. Where there is room, rings
 * do not begin at multiples of their length: the same entry of many rings would compete for the same sets of a cache.
 *
 * <p>Thread-safe. Some pages are allocated at a time, or a large one, and freed when no ring is left in them, unless no
 * other pages are spare: a connection that comes and goes would have pages freed each time, for which the JVM stops all
 * threads that run Java. Closed after the last ring.
 */
final class ClearToSendMemory implements AutoCloseable {

    /** Bytes that are allocated at a time, unless a page is more. */
    private static final int MIN_BLOCK_BYTES = 32 << 10;

    private static final int LINE = 64;

    /** Pages with rings of one length. */
    private static final class Block {
        private final int bytes;
        private final int length;
        private final Arena arena = Arena.ofShared();
        private final long address;
        private final Deque<Long> free = new ArrayDeque<>();
        private final int places;

        Block(int bytes, int pageBytes) {
            this.bytes = bytes;
            length = Math.max(MIN_BLOCK_BYTES, pageBytes);
            address = arena.allocate(length, pageBytes).address();
            int apart = pageBytes / (bytes + LINE) > 1 ? bytes + LINE : bytes;
            int perPage = pageBytes / apart;
            int shifts = 1 + (pageBytes - (perPage - 1) * apart - bytes) / LINE;
            for (int page = 0; page < length / pageBytes; page++) {
                long begin = address + (long) page * pageBytes + (long) (page % shifts) * LINE;
                for (int i = 0; i < perPage; i++) {
                    free.addLast(begin + (long) i * apart);
                }
            }
            places = free.size();
        }

        boolean has(long ring) {
            return ring >= address && ring < address + length;
        }

        boolean isUnused() {
            return free.size() == places;
        }
    }

    private final int pageBytes;
    private final List<Block> blocks = new ArrayList<>();

    /**
     * No memory yet.
     *
     * @param pageBytes size of the kernel's pages, a power of two
     */
    ClearToSendMemory(int pageBytes) {
        this.pageBytes = pageBytes;
    }

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
        Block block = new Block(bytes, pageBytes);
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
