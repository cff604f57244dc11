package trigon.software.memory;

import org.jspecify.annotations.Nullable;
import trigon.verbs.AccessFlag;
import trigon.verbs.ProtectionDomain;

/**
 * The memory that a queue pair's work requests may use: the regions of its protection domain. For all threads;
 * looking up allocates nothing.
 *
 * @param regions the device's
 * @param domain the queue pair's
 */
public record ProtectedMemory(MemoryRegions regions, ProtectionDomain domain) {

    /** The region that an own work request means; null if it may not be used so. */
    public @Nullable SoftwareMemoryRegion local(int localKey, long address, long length, boolean write) {
        return regions.local(domain, localKey, address, length, write);
    }

    /** The region that a peer's request means; null if it may not be used so. */
    public @Nullable SoftwareMemoryRegion remote(int remoteKey, long address, long length, AccessFlag access) {
        return regions.remote(domain, remoteKey, address, length, access);
    }
}
