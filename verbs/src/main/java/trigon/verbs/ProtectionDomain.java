package trigon.verbs;

import java.util.Set;
import org.jspecify.annotations.Nullable;
import trigon.system.Errno;

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

    /**
     * Registers memory of another device, such as a GPU, which the CPU may not touch. May block. Refused by devices
     * whose {@link DeviceContext#deviceMemory} says no: those that copy by the CPU would crash later.
     *
     * @param address start, in this process's address space; at the same place of a page as the DMA-BUF's offset
     * @param length bytes, at least 1
     * @param dmaBuf by what it is lent, still the caller's; null: by its address, as peer memory
     * @throws VerbsException EOPNOTSUPP if the device does not reach such memory
     * @see <a href="https://man7.org/linux/man-pages/man3/ibv_reg_mr.3.html">ibv_reg_dmabuf_mr(3)</a>
     */
    default MemoryRegion registerDeviceMemory(
            long address, long length, @Nullable DmaBuf dmaBuf, Set<AccessFlag> access) {
        throw new VerbsException(
                "ibv_reg_dmabuf_mr", toString(), Errno.EOPNOTSUPP, "it copies by the CPU, which may not touch GPUs");
    }

    /** {@code ibv_dealloc_pd(3)}. Closing twice is allowed. */
    @Override
    void close();
}
