package trigon.transport.plugin;

import java.util.Map;
import trigon.nccl.GpuWrites;
import trigon.routing.hardware.NicHardware;
import trigon.verbs.LinkKind;
import trigon.verbs.VerbsProvider;

/**
 * The devices behind links and GPUs.
 *
 * @param providers the devices behind links, by kind; they stay the caller's
 * @param gpuWrites flushes where a device cannot
 * @param hardware what is known of both
 */
public record HostDevices(Map<LinkKind, VerbsProvider> providers, GpuWrites gpuWrites, NicHardware hardware) {

    /** Those of this machine, whose GPUs have no driver. */
    HostDevices(Map<LinkKind, VerbsProvider> providers) {
        this(providers, GpuWrites.NONE, NicHardware.ofThisMachine());
    }
}
