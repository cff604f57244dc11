package trigon.software;

import trigon.verbs.AccessFlag;
import trigon.verbs.MemoryRegion;

/**
 * Registered memory. Whoever moves data asks {@link #isOpen} before every access; closing it says no, and then waits
 * until each of them has come to the end of what it was doing.
 */
final class SoftwareMemoryRegion implements MemoryRegion {

    private final SoftwareProtectionDomain protectionDomain;
    private final long address;
    private final long length;
    private final int accessBits;
    private final int localKey;
    private final int remoteKey;
    private volatile boolean open = true;

    SoftwareMemoryRegion(
            SoftwareProtectionDomain protectionDomain,
            long address,
            long length,
            int accessBits,
            int localKey,
            int remoteKey) {
        this.protectionDomain = protectionDomain;
        this.address = address;
        this.length = length;
        this.accessBits = accessBits;
        this.localKey = localKey;
        this.remoteKey = remoteKey;
    }

    @Override
    public long address() {
        return address;
    }

    @Override
    public long length() {
        return length;
    }

    @Override
    public int localKey() {
        return localKey;
    }

    @Override
    public int remoteKey() {
        return remoteKey;
    }

    SoftwareProtectionDomain protectionDomain() {
        return protectionDomain;
    }

    /** Whether the memory may still be touched. */
    boolean isOpen() {
        return open;
    }

    /** Ends all access. True the first time. */
    boolean markClosed() {
        boolean first = open;
        open = false;
        return first;
    }

    boolean allows(AccessFlag flag) {
        return (accessBits & flag.bit()) != 0;
    }

    boolean contains(long start, long bytes) {
        long offset = start - address;
        return offset >= 0 && bytes <= length && offset <= length - bytes;
    }

    @Override
    public void close() {
        protectionDomain.deregister(this);
    }

    @Override
    public String toString() {
        return "memory region of %d bytes at 0x%x".formatted(length, address);
    }
}
