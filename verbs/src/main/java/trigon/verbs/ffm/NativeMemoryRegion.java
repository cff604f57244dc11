package trigon.verbs.ffm;

import java.lang.foreign.MemorySegment;
import trigon.verbs.MemoryRegion;
import trigon.verbs.ffm.call.ResourceCalls;
import trigon.verbs.ffm.generated.ibv_mr;

/** A memory region of libibverbs. Thread-safe. */
final class NativeMemoryRegion implements MemoryRegion {

    private final NativeHandle handle;
    private final long address;
    private final long length;
    private final int localKey;
    private final int remoteKey;

    /**
     * A region of {@code length} bytes from {@code address}.
     *
     * @param handle the region's {@code struct ibv_mr}, which it takes over
     */
    NativeMemoryRegion(NativeHandle handle, long address, long length) {
        MemorySegment struct = MemorySegment.ofAddress(handle.address()).reinterpret(ibv_mr.sizeof());
        this.handle = handle;
        this.address = address;
        this.length = length;
        localKey = ibv_mr.lkey(struct);
        remoteKey = ibv_mr.rkey(struct);
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

    @Override
    public void close() {
        handle.close("ibv_dereg_mr", ResourceCalls::deregisterMemory);
    }

    @Override
    public String toString() {
        return handle.object();
    }
}
