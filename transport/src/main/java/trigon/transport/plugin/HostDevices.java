package trigon.transport.plugin;

import java.util.Map;
import trigon.nccl.GpuWrites;
import trigon.verbs.LinkKind;
import trigon.verbs.VerbsProvider;

/**
 * The devices behind links and GPUs.
 *
 * @param providers the devices behind links, by kind; they stay the caller's
 * @param gpuWrites flushes where a device cannot
 */
public record HostDevices(Map<LinkKind, VerbsProvider> providers, GpuWrites gpuWrites) {}
