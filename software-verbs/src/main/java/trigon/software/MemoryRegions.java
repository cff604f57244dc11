package trigon.software;

import io.netty.util.collection.IntObjectHashMap;
import java.security.SecureRandom;
import org.jspecify.annotations.Nullable;
import trigon.verbs.AccessFlag;

/**
 * The keys of a device's memory regions. Keys are random, so that a peer can neither guess one nor meet an old one
 * again soon. Changed under the context's monitor; looking up is for all threads, and allocates nothing.
 */
final class MemoryRegions {

    private final SecureRandom random = new SecureRandom();

    // replaced with every change, and never changed themselves: changes are rare, and looking up needs no lock
    private volatile IntObjectHashMap<SoftwareMemoryRegion> byLocalKey = new IntObjectHashMap<>();
    private volatile IntObjectHashMap<SoftwareMemoryRegion> byRemoteKey = new IntObjectHashMap<>();

    SoftwareMemoryRegion add(SoftwareProtectionDomain domain, long address, long length, int accessBits) {
        int localKey = freeKey(byLocalKey);
        int remoteKey = freeKey(byRemoteKey);
        SoftwareMemoryRegion region =
                new SoftwareMemoryRegion(domain, address, length, accessBits, localKey, remoteKey);
        byLocalKey = with(byLocalKey, localKey, region);
        byRemoteKey = with(byRemoteKey, remoteKey, region);
        return region;
    }

    /** Takes the keys back and ends all access. True the first time. */
    boolean remove(SoftwareMemoryRegion region) {
        if (!region.markClosed()) {
            return false;
        }
        byLocalKey = without(byLocalKey, region.localKey());
        byRemoteKey = without(byRemoteKey, region.remoteKey());
        return true;
    }

    /** The region that an own work request means; null if it may not be used so. */
    @Nullable
    SoftwareMemoryRegion local(
            SoftwareProtectionDomain domain, int localKey, long address, long length, boolean write) {
        SoftwareMemoryRegion region = byLocalKey.get(localKey);
        return usable(region, domain, address, length) && (!write || region.allows(AccessFlag.LOCAL_WRITE))
                ? region
                : null;
    }

    /** The region that a peer's request means; null if it may not be used so. */
    @Nullable
    SoftwareMemoryRegion remote(
            SoftwareProtectionDomain domain, int remoteKey, long address, long length, AccessFlag access) {
        SoftwareMemoryRegion region = byRemoteKey.get(remoteKey);
        return usable(region, domain, address, length) && region.allows(access) ? region : null;
    }

    private static boolean usable(
            @Nullable SoftwareMemoryRegion region, SoftwareProtectionDomain domain, long address, long length) {
        return region != null && region.protectionDomain() == domain && region.contains(address, length);
    }

    private static IntObjectHashMap<SoftwareMemoryRegion> with(
            IntObjectHashMap<SoftwareMemoryRegion> table, int key, SoftwareMemoryRegion region) {
        IntObjectHashMap<SoftwareMemoryRegion> copy = copy(table);
        copy.put(key, region);
        return copy;
    }

    private static IntObjectHashMap<SoftwareMemoryRegion> without(
            IntObjectHashMap<SoftwareMemoryRegion> table, int key) {
        IntObjectHashMap<SoftwareMemoryRegion> copy = copy(table);
        copy.remove(key);
        return copy;
    }

    private static IntObjectHashMap<SoftwareMemoryRegion> copy(IntObjectHashMap<SoftwareMemoryRegion> table) {
        IntObjectHashMap<SoftwareMemoryRegion> copy = new IntObjectHashMap<>(2 * table.size() + 2);
        copy.putAll(table);
        return copy;
    }

    private int freeKey(IntObjectHashMap<SoftwareMemoryRegion> taken) {
        int key;
        do {
            key = random.nextInt();
        } while (key == 0 || taken.containsKey(key));
        return key;
    }
}
