package trigon.software.memory;

import java.util.function.Consumer;
import trigon.verbs.AccessFlag;
import trigon.verbs.MemoryRegion;
import trigon.verbs.ProtectionDomain;

/**
 * Registered memory. Whoever moves data asks {@link #isOpen} before every access; closing it says no, and then waits
 * until each of them has come to the end of what it was doing.
 */
public final class SoftwareMemoryRegion implements MemoryRegion {

    private final ProtectionDomain protectionDomain;
    private final long address;
    private final long length;
    private final int accessBits;
    private final int localKey;
    private final int remoteKey;
    private final Consumer<SoftwareMemoryRegion> onClose;
    private volatile boolean open = true;

    SoftwareMemoryRegion(
            ProtectionDomain protectionDomain,
            long address,
            long length,
            int accessBits,
            MemoryKeys keys,
            Consumer<SoftwareMemoryRegion> onClose) {
        this.protectionDomain = protectionDomain;
        this.address = address;
        this.length = length;
        this.accessBits = accessBits;
        localKey = keys.local();
        remoteKey = keys.remote();
        this.onClose = onClose;
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

    /** Returns whether the memory may still be touched. */
    public boolean isOpen() {
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

    /** Returns whether it is of that domain, and all of these bytes are in it. */
    @SuppressWarnings("ReferenceEquality") // domains are told apart by identity
    boolean covers(ProtectionDomain domain, long start, long bytes) {
        return protectionDomain == domain && contains(start, bytes);
    }

    boolean contains(long start, long bytes) {
        long offset = start - address;
        return offset >= 0 && bytes <= length && offset <= length - bytes;
    }

    @Override
    public void close() {
        onClose.accept(this);
    }

    @Override
    public String toString() {
        return "memory region of %d bytes at 0x%x".formatted(length, address);
    }
}
