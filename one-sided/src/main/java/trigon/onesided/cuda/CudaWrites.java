package trigon.onesided.cuda;

import java.lang.foreign.Arena;
import java.util.Optional;
import trigon.nccl.GpuWrites;
import trigon.system.Memory;

/**
 * {@code cuFlushGPUDirectRDMAWrites}, for devices that do not READ what they have written to a GPU. The driver is
 * loaded when it is first asked. Its primary contexts are those of CUDA's runtime, and so NCCL's.
 *
 * <p>Where the driver says that writes need no flush at all, the call does nothing. It says the same where writes go
 * over PCIe and over C2C, which nothing orders. So it is not asked there.
 */
public final class CudaWrites implements GpuWrites {

    private static final int SUCCESS = 0;
    private static final int DEVICE_ORDINAL = 9; // CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
    private static final int FLUSH_OPTIONS = 117; // CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS
    private static final int BY_HOST = 1; // CU_FLUSH_GPU_DIRECT_RDMA_WRITES_OPTION_HOST
    private static final int WRITES_ORDERING = 118; // CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING
    private static final int ALL_DEVICES = 200; // CU_GPU_DIRECT_RDMA_WRITES_ORDERING_ALL_DEVICES, and as a scope
    private static final int CURRENT_CONTEXT = 0; // CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX

    // guarded by this
    private Optional<CudaDriver> driver = Optional.empty();
    private boolean isLoaded;

    private synchronized Optional<CudaDriver> driver() {
        if (!isLoaded) {
            isLoaded = true;
            driver = CudaDriver.load();
        }
        return driver;
    }

    @Override
    public boolean settle(long address) {
        return driver().map(known -> settle(known, address)).orElse(false);
    }

    private static boolean settle(CudaDriver driver, long address) {
        try (Arena arena = Arena.ofConfined()) {
            long out = arena.allocate(8, 8).address();
            if (driver.attribute(out, DEVICE_ORDINAL, address) != SUCCESS
                    || driver.device(out, Memory.getInt(out)) != SUCCESS) {
                return false;
            }
            int device = Memory.getInt(out);
            if (!mayFlush(driver, out, device) || driver.retainPrimaryContext(out, device) != SUCCESS) {
                return false;
            }
            try {
                return flush(driver, out, Memory.getLong(out));
            } finally {
                var _ = driver.releasePrimaryContext(device);
            }
        }
    }

    private static boolean mayFlush(CudaDriver driver, long out, int device) {
        boolean byHost =
                driver.deviceAttribute(out, FLUSH_OPTIONS, device) == SUCCESS && (Memory.getInt(out) & BY_HOST) != 0;
        return byHost
                && driver.deviceAttribute(out, WRITES_ORDERING, device) == SUCCESS
                && Memory.getInt(out) < ALL_DEVICES;
    }

    private static boolean flush(CudaDriver driver, long out, long context) {
        if (driver.getCurrent(out) != SUCCESS) {
            return false;
        }
        long previous = Memory.getLong(out);
        if (driver.setCurrent(context) != SUCCESS) {
            return false;
        }
        try {
            return driver.flushWrites(CURRENT_CONTEXT, ALL_DEVICES) == SUCCESS;
        } finally {
            var _ = driver.setCurrent(previous);
        }
    }
}
