package trigon.nccl;

/**
 * The driver of GPUs, as far as it knows what other devices have written to their memory. Thread-safe.
 */
@FunctionalInterface
public interface GpuWrites {

    /** There is no driver, so nobody knows. */
    GpuWrites NONE = address -> false;

    /**
     * Makes all that devices have written so far to the memory of a GPU visible to all GPUs. May block.
     *
     * @param address in the memory of that GPU
     * @return false if that is beyond the driver; then nothing has been made visible
     */
    boolean settle(long address);
}
