package trigon.software.memory;

import java.security.SecureRandom;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import trigon.verbs.AccessFlag;
import trigon.verbs.ProtectionDomain;

/**
 * The keys of a device's memory regions. Keys are random, so that a peer can neither guess one nor meet an old one
 * again soon. Changed under the context's monitor; looking up is for all threads, and allocates nothing.
 */
public final class MemoryRegions {

    private final SecureRandom random = new SecureRandom();

    // replaced with every change: changes are rare
    private volatile RegionTable byLocalKey = RegionTable.EMPTY;
    private volatile RegionTable byRemoteKey = RegionTable.EMPTY;

    /**
     * Registers memory under two fresh keys.
     *
     * @param accessBits what is allowed: bits of {@link AccessFlag}s
     * @param onClose what closing the region does, {@link #remove} among it
     */
    public SoftwareMemoryRegion add(
            ProtectionDomain domain,
            long address,
            long length,
            int accessBits,
            Consumer<SoftwareMemoryRegion> onClose) {
        int localKey = freeKey(byLocalKey);
        int remoteKey = freeKey(byRemoteKey);
        SoftwareMemoryRegion region = new SoftwareMemoryRegion(
                domain, address, length, accessBits, new MemoryKeys(localKey, remoteKey), onClose);
        byLocalKey = byLocalKey.with(localKey, region);
        byRemoteKey = byRemoteKey.with(remoteKey, region);
        return region;
    }

    /** Takes the keys back and ends all access. True the first time. */
    public boolean remove(SoftwareMemoryRegion region) {
        if (!region.markClosed()) {
            return false;
        }
        byLocalKey = byLocalKey.without(region);
        byRemoteKey = byRemoteKey.without(region);
        return true;
    }

    /** The region that an own work request means; null if it may not be used so. */
    @Nullable
    SoftwareMemoryRegion local(ProtectionDomain domain, int localKey, long address, long length, boolean write) {
        SoftwareMemoryRegion region = byLocalKey.get(localKey);
        return region != null
                        && region.covers(domain, address, length)
                        && (!write || region.allows(AccessFlag.LOCAL_WRITE))
                ? region
                : null;
    }

    /** The region that a peer's request means; null if it may not be used so. */
    @Nullable
    SoftwareMemoryRegion remote(ProtectionDomain domain, int remoteKey, long address, long length, AccessFlag access) {
        SoftwareMemoryRegion region = byRemoteKey.get(remoteKey);
        return region != null && region.covers(domain, address, length) && region.allows(access) ? region : null;
    }

    private int freeKey(RegionTable taken) {
        int key;
        do {
            key = random.nextInt();
        } while (key == 0 || taken.get(key) != null);
        return key;
    }
}
