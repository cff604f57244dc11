package trigon.stream.hop;

import trigon.system.Errno;
import trigon.verbs.VerbsException;

/** Bytes of memory that this process's hops lock, within their limit. Thread-safe. */
final class SlotMemory {

    private final long mostBytes;
    private long takenBytes;

    /** For so many bytes at most. */
    SlotMemory(long mostBytes) {
        this.mostBytes = mostBytes;
    }

    /**
     * Takes so much for a queue pair on a device.
     *
     * @throws VerbsException if that is more than is left; nothing is taken then
     */
    synchronized void take(long bytes, String device) {
        if (bytes > mostBytes - takenBytes) {
            throw new VerbsException(
                    "locking %d KiB".formatted(bytes >> 10),
                    device,
                    Errno.ENOMEM,
                    "relayed connections have locked all of circuits.memoryMiB (%d); raise it, and ulimit -l if lower"
                            .formatted(mostBytes >> 20));
        }
        takenBytes += bytes;
    }

    /** Gives so much back. */
    synchronized void giveBack(long bytes) {
        takenBytes -= bytes;
    }
}
