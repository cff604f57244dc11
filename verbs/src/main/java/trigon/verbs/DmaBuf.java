package trigon.verbs;

import trigon.system.Errno;
import trigon.system.file.Descriptors;

/**
 * Memory of another device, such as a GPU, that the kernel lends by a file descriptor. Keeps a duplicate of it until
 * closed, and with it the memory: devices that are opened later can register it, too. Thread-safe.
 *
 * @see <a href="https://docs.kernel.org/driver-api/dma-buf.html">Buffer sharing and synchronization (dma-buf)</a>
 */
public final class DmaBuf implements AutoCloseable {

    private static final int CLOSED = -1;

    private final long offset;
    private int descriptor;

    private DmaBuf(int descriptor, long offset) {
        this.descriptor = descriptor;
        this.offset = offset;
    }

    /**
     * Duplicates the descriptor; its owner may close it then.
     *
     * @param offset where the memory begins in what the descriptor stands for, in bytes
     * @throws VerbsException if the descriptor is not open, or the process has too many files open
     */
    public static DmaBuf of(int descriptor, long offset) {
        int duplicate = offset < 0 ? -Errno.EINVAL : Descriptors.duplicate(descriptor);
        if (duplicate < 0) {
            throw new VerbsException(
                    "fcntl",
                    "DMA-BUF descriptor %d, from byte %d".formatted(descriptor, offset),
                    -duplicate,
                    duplicate == -Errno.EMFILE
                            ? "each registration of GPU memory takes a descriptor; raise ulimit -n"
                            : "");
        }
        return new DmaBuf(duplicate, offset);
    }

    /** The duplicate; -1 once it is closed. */
    public synchronized int descriptor() {
        return descriptor;
    }

    /** Offset of the memory in it, in bytes. */
    public long offset() {
        return offset;
    }

    /** Closes the descriptor; registrations remain. Closing twice is allowed. */
    @Override
    public synchronized void close() {
        if (descriptor != CLOSED) {
            Descriptors.close(descriptor);
            descriptor = CLOSED;
        }
    }
}
