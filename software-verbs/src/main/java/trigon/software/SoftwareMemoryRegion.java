package trigon.software;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import trigon.verbs.AccessFlag;
import trigon.verbs.Memory;
import trigon.verbs.MemoryRegion;

/**
 * Registered memory. The event loops ask {@link #isOpen} before every access; closing it says no, and then waits until
 * each of them has come to the end of what it was doing.
 */
final class SoftwareMemoryRegion implements MemoryRegion {

    /** A buffer is addressed by ints, so long regions are covered by several, which overlap by the longest chunk. */
    private static final long WINDOW = 1L << 30;

    private final SoftwareProtectionDomain protectionDomain;
    private final long address;
    private final long length;
    private final int accessBits;
    private final int localKey;
    private final int remoteKey;
    private final @Nullable ByteBuffer[][] windows;
    private volatile boolean open = true;

    SoftwareMemoryRegion(
            SoftwareProtectionDomain protectionDomain,
            long address,
            long length,
            int accessBits,
            int localKey,
            int remoteKey,
            int threads) {
        this.protectionDomain = protectionDomain;
        this.address = address;
        this.length = length;
        this.accessBits = accessBits;
        this.localKey = localKey;
        this.remoteKey = remoteKey;
        windows = new ByteBuffer[threads][Math.toIntExact((length + WINDOW - 1) / WINDOW)];
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

    /**
     * A part of the memory as a buffer for socket writes, valid until the next call of the same thread.
     *
     * @param thread the calling event loop's {@link DeviceThread#index}
     * @param bytes at most {@link OutboundStream#WRITE_LIMIT}
     */
    ByteBuffer window(int thread, long start, int bytes) {
        long offset = start - address;
        int index = (int) (offset / WINDOW);
        ByteBuffer window = windows[thread][index];
        if (window == null) {
            long first = index * WINDOW;
            long size = Math.min(length - first, WINDOW + OutboundStream.WRITE_LIMIT);
            window = Memory.segment(address + first, size).asByteBuffer();
            windows[thread][index] = window;
        }
        int position = (int) (offset % WINDOW);
        return window.limit(position + bytes).position(position);
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
