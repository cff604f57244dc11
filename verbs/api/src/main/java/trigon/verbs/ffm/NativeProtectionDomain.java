package trigon.verbs.ffm;

import java.util.Set;
import trigon.system.Errno;
import trigon.verbs.AccessFlag;
import trigon.verbs.MemoryRegion;
import trigon.verbs.ProtectionDomain;
import trigon.verbs.ResourceLedger;
import trigon.verbs.VerbsException;
import trigon.verbs.ffm.call.DeviceCalls;
import trigon.verbs.ffm.call.ResourceCalls;

/** A protection domain of libibverbs. Thread-safe. */
final class NativeProtectionDomain implements ProtectionDomain {

    /** The flags that a kernel may not know and then leaves out: {@code IBV_ACCESS_OPTIONAL_RANGE}, bits 20 to 29. */
    private static final int OPTIONAL_ACCESS = 0x3FF0_0000;

    private final NativeDeviceContext context;
    private final NativeHandle handle;

    /** Takes over the {@code struct ibv_pd} at that address. */
    NativeProtectionDomain(NativeDeviceContext context, long address) {
        this.context = context;
        handle = context.own(ResourceLedger.Kind.PROTECTION_DOMAIN, "protection domain", address);
    }

    /** Where the {@code struct ibv_pd} is. */
    long address() {
        return handle.address();
    }

    @Override
    public MemoryRegion registerMemory(long address, long length, Set<AccessFlag> access) {
        int bits = AccessFlag.bits(access);
        long domain = handle.address();
        boolean optional = (bits & OPTIONAL_ACCESS) != 0;
        long region;
        if (length < 1) {
            region = -Errno.EINVAL; // some drivers accept it
        } else if (optional) {
            region = ResourceCalls.registerMemoryWithOptionalAccess(domain, address, length, bits);
        } else {
            region = ResourceCalls.registerMemory(domain, address, length, bits);
        }
        if (region < 0) {
            int errno = (int) -region;
            throw new VerbsException(
                    optional ? "ibv_reg_mr_iova2" : "ibv_reg_mr",
                    "%s (%d bytes at 0x%x, %s)".formatted(context.deviceName(), length, address, access),
                    errno,
                    Advice.onRegistering(errno));
        }
        String what = "memory region (%d bytes at 0x%x)".formatted(length, address);
        NativeHandle owned = context.own(ResourceLedger.Kind.MEMORY_REGION, what, region);
        return new NativeMemoryRegion(owned, address, length);
    }

    @Override
    public void close() {
        handle.close("ibv_dealloc_pd", DeviceCalls::deallocateProtectionDomain);
    }

    @Override
    public String toString() {
        return handle.object();
    }
}
