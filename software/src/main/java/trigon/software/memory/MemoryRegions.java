package trigon.software.memory;

import java.security.SecureRandom;
import java.util.function.Consumer;
import trigon.software.call.NativeDevice;

/**
 * The memory regions of a device, which C finds by their keys. Keys are random, so that a peer can neither guess one
 * nor meet an old one again soon. Under the context's monitor.
 */
public final class MemoryRegions {

    /** Each finds its keys taken, where there are any keys left, once in thousands of times. */
    private static final int TRIES = 8;

    private final SecureRandom random = new SecureRandom();
    private final NativeDevice device;

    /** State of a region when it was removed. */
    public enum Removed {
        /** Nobody uses it, or will. */
        UNUSED,
        /** A queue pair may be using it until it has forgotten it. */
        IN_USE,
        /** It had been removed before, and a queue pair may still be using it. */
        BEFORE
    }

    /** Of a device that has none. */
    public MemoryRegions(NativeDevice device) {
        this.device = device;
    }

    /**
     * Registers memory under two fresh keys.
     *
     * @param domain number of its protection domain
     * @param accessBits what is allowed: bits of {@link trigon.verbs.AccessFlag}s
     * @param onClose what closing the region does, {@link #remove} among it
     * @throws OutOfMemoryError if there is no memory for it
     */
    public SoftwareMemoryRegion add(
            int domain, long address, long length, int accessBits, Consumer<SoftwareMemoryRegion> onClose) {
        for (int i = 0; i < TRIES; i++) {
            int localKey = key();
            int remoteKey = key();
            long region = device.addRegion(address, length, accessBits, domain, localKey, remoteKey);
            if (region != 0) {
                return new SoftwareMemoryRegion(region, address, length, localKey, remoteKey, onClose);
            }
        }
        throw new OutOfMemoryError("no native memory for a memory region");
    }

    /** Takes the keys back and ends all access. Returns what is to be done then. */
    public Removed remove(SoftwareMemoryRegion region) {
        if (!region.markClosed()) {
            return Removed.BEFORE;
        }
        return device.removeRegion(region.inC()) ? Removed.IN_USE : Removed.UNUSED;
    }

    /** Frees what C had of one that was in use: all queue pairs have forgotten it since {@link #remove}. Once. */
    public void free(SoftwareMemoryRegion region) {
        device.freeRegion(region.inC());
    }

    private int key() {
        int key;
        do {
            key = random.nextInt();
        } while (key == 0);
        return key;
    }
}
