package trigon.verbs;

import java.util.Set;

/** Ties memory regions to the queue pairs that may use them ({@code struct ibv_pd}). Thread-safe. */
public interface ProtectionDomain extends AutoCloseable {

    /**
     * Registers memory for use by the device. May block; pins the pages.
     *
     * @param address start, in this process's address space
     * @param length bytes, at least 1
     * @throws VerbsException for example with ENOMEM where the limit on locked memory is too low
     * @see <a href="https://man7.org/linux/man-pages/man3/ibv_reg_mr.3.html">ibv_reg_mr(3)</a>
     */
    MemoryRegion registerMemory(long address, long length, Set<AccessFlag> access);

    /** {@code ibv_dealloc_pd(3)}. Closing twice is allowed. */
    @Override
    void close();
}
