package trigon.onesided.memory;

/**
 * Memory that the processor cannot reach, by way of the driver of the GPU that has it: copies begin at once, run one
 * after the other, and are over some time later. A group of ranks has its own.
 *
 * <p>Data path, except where it says otherwise: nothing waits, allocates or throws. One thread at a time.
 */
public interface GpuMemory extends AutoCloseable {

    /** Nothing is known of any GPU: there is a driver, or there is not, but nobody has asked. */
    GpuMemory NONE = new NoDevice();

    /** Kind of an address; control path. */
    enum Kind {
        /** The processor reads and writes it. */
        HOST,
        /** Only the driver does. */
        DEVICE
    }

    /** Tells whether there is any such memory: else everything is the processor's. */
    boolean exists();

    /**
     * Returns what an address is, as the driver says; control path.
     *
     * @throws IllegalArgumentException where that cannot be known, with what to do
     */
    Kind kindOf(long address);

    /** The calls until {@link #leave} are the calling thread's, whatever CUDA context it has. */
    void enter();

    /** Undoes {@link #enter}: the thread has its own context again. */
    void leave();

    /** Begins a copy behind all that has begun; of memory of any kind. Returns 0, or the driver's error. */
    int copy(long to, long from, long bytes);

    /** Begins to write an aligned 8-byte word behind all that has begun. Returns 0, or the driver's error. */
    int write(long address, long value);

    /** A number for all that has begun; negative: the driver's error. */
    long mark();

    /**
     * Tells whether all is over that had begun at a mark: 1 or 0; negative: the driver's error, as is a negative mark.
     */
    int isOver(long mark);

    /** Makes copies to and from host memory faster, where that can be had; control path. */
    void pin(long address, long bytes);

    /** Undoes {@link #pin}; control path. */
    void unpin(long address);

    /** Waits until all is over that has begun; any thread, control path. */
    void finish();

    /** Nothing is copied any more; control path. */
    @Override
    void close();

    /** Memory without a GPU, or a driver of one: everything is the processor's. */
    final class NoDevice implements GpuMemory {

        private static final int NO_DEVICE = 100; // CUDA_ERROR_NO_DEVICE

        @Override
        public boolean exists() {
            return false;
        }

        @Override
        public Kind kindOf(long address) {
            return Kind.HOST;
        }

        @Override
        public void enter() {}

        @Override
        public void leave() {}

        @Override
        public int copy(long to, long from, long bytes) {
            return NO_DEVICE;
        }

        @Override
        public int write(long address, long value) {
            return NO_DEVICE;
        }

        @Override
        public long mark() {
            return -NO_DEVICE;
        }

        @Override
        public int isOver(long mark) {
            return -NO_DEVICE;
        }

        @Override
        public void pin(long address, long bytes) {}

        @Override
        public void unpin(long address) {}

        @Override
        public void finish() {
            // nothing begins
        }

        @Override
        public void close() {}
    }
}
