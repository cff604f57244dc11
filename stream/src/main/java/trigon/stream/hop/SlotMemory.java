package trigon.stream.hop;

import trigon.system.Errno;
import trigon.verbs.VerbsException;

/**
 * Bytes of memory that this process's hops lock, within their limit. The fuller it is, the shorter are the slots that a
 * hop gets: few circuits have windows of the full size, and many still go by RDMA. Thread-safe.
 */
final class SlotMemory {

    /** Slots of the full size are for as many as this many directions of hops, if there is no other. */
    private static final int DIRECTIONS = 48;

    private final long mostBytes;
    private long takenBytes;

    /** For so many bytes at most. */
    SlotMemory(long mostBytes) {
        this.mostBytes = mostBytes;
    }

    /**
     * Takes memory for slots of one direction of a hop.
     *
     * @param wanted the most that is of use
     * @param copies how often these slots are locked
     * @return what was taken: as many slots, which may be shorter
     * @throws VerbsException if even the shortest slots take more than is left; nothing is taken then
     */
    synchronized SlotGeometry take(SlotGeometry wanted, int copies, String device) {
        long left = mostBytes - takenBytes;
        double part = (double) left / mostBytes;
        SlotGeometry taken = wanted.within((long) (left * part / DIRECTIONS));
        if (copies * taken.bytes() > left) {
            throw new VerbsException(
                    "locking %d KiB".formatted((copies * taken.bytes()) >> 10),
                    device,
                    Errno.ENOMEM,
                    "relayed connections have locked all of circuits.memoryMiB (%d); raise it, and ulimit -l if lower"
                            .formatted(mostBytes >> 20));
        }
        takenBytes += copies * taken.bytes();
        return taken;
    }

    /** Gives so much back. */
    synchronized void giveBack(long bytes) {
        takenBytes -= bytes;
    }
}
