package trigon.software.memory;

import java.util.function.Consumer;
import trigon.verbs.MemoryRegion;

/**
 * Registered memory. C asks whether it is open before every access; closing it says no, and then, if it is used, waits
 * until each queue pair has come to the end of what it was doing.
 */
public final class SoftwareMemoryRegion implements MemoryRegion {

    private final long inC;
    private final long address;
    private final long length;
    private final int localKey;
    private final int remoteKey;
    private final Consumer<SoftwareMemoryRegion> onClose;
    private boolean open = true;

    SoftwareMemoryRegion(
            long inC, long address, long length, int localKey, int remoteKey, Consumer<SoftwareMemoryRegion> onClose) {
        this.inC = inC;
        this.address = address;
        this.length = length;
        this.localKey = localKey;
        this.remoteKey = remoteKey;
        this.onClose = onClose;
    }

    /** The address of its {@code struct region}, until that is freed. */
    public long inC() {
        return inC;
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

    /** Ends all access. True the first time; under the context's monitor. */
    boolean markClosed() {
        boolean first = open;
        open = false;
        return first;
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
