package trigon.entry;

import java.util.Optional;
import java.util.function.Supplier;
import trigon.config.PluginConfig;
import trigon.config.Settings;
import trigon.config.setting.OneSidedUse;
import trigon.nccl.GpuWrites;
import trigon.onesided.cuda.CudaDriver;
import trigon.onesided.cuda.CudaMemory;
import trigon.onesided.cuda.CudaWrites;
import trigon.onesided.memory.GpuMemory;
import trigon.system.GpuVendor;

/**
 * The GPUs of the library that calls. Trigon knows the driver of NVIDIA's alone, so for others NICs leave their memory
 * alone, and there are no one-sided calls.
 *
 * @param vendor of the GPUs
 */
record Gpus(GpuVendor vendor) {

    /** Their driver's flushes, as far as NICs may write to their memory. */
    GpuWrites writes() {
        return vendor == GpuVendor.NVIDIA
                ? new CudaWrites()
                : GpuWrites.without(vendor.library() + " calls, and Trigon cannot flush what NICs write to a GPU of "
                        + vendor + "'s");
    }

    /** The way to memory of the GPU of a thread that asks; none without a driver. */
    Supplier<GpuMemory> memory() {
        Optional<CudaDriver> driver = vendor == GpuVendor.NVIDIA ? CudaDriver.load() : Optional.empty();
        return () -> driver.map(CudaMemory::ofThisThread).orElse(GpuMemory.NONE);
    }

    /** The reason why there are no one-sided calls; empty if there are. */
    Optional<String> oneSidedObstacle(PluginConfig config) {
        if (config.value(Settings.ONE_SIDED) != OneSidedUse.ON) {
            return Optional.of("one-sided communication is off, the default; NCCL continues without it. To use it, set"
                    + " oneSided: on or TRIGON_ONE_SIDED=on on all nodes");
        }
        return vendor == GpuVendor.NVIDIA
                ? Optional.empty()
                : Optional.of("oneSided is on, but one-sided communication is off: " + vendor.library()
                        + " calls, and Trigon knows the driver of NVIDIA's GPUs alone");
    }
}
