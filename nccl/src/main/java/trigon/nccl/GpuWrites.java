package trigon.nccl;

import java.util.Optional;

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

    /** The reason why NICs must not write to that memory at all; empty where they may. */
    default Optional<String> obstacle() {
        return Optional.empty();
    }

    /** Those of GPUs to whose memory NICs must not write. */
    static GpuWrites without(String obstacle) {
        return new GpuWrites() {

            @Override
            public boolean settle(long address) {
                return false;
            }

            @Override
            public Optional<String> obstacle() {
                return Optional.of(obstacle);
            }
        };
    }
}
