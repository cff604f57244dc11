package trigon.verbs.ffm;

import java.util.Set;
import org.jspecify.annotations.Nullable;
import trigon.system.Errno;
import trigon.verbs.AccessFlag;
import trigon.verbs.DmaBuf;
import trigon.verbs.MemoryRegion;
import trigon.verbs.ProtectionDomain;
import trigon.verbs.ResourceLedger;
import trigon.verbs.VerbsException;
import trigon.verbs.ffm.call.DeviceCalls;
import trigon.verbs.ffm.call.DmaBufCalls;
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

    /** Address of the {@code struct ibv_pd}. */
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
        return own(region, address, length);
    }

    @Override
    public MemoryRegion registerDeviceMemory(
            long address, long length, @Nullable DmaBuf dmaBuf, Set<AccessFlag> access) {
        if (dmaBuf == null) {
            if (!context.takesPeerMemory()) {
                throw new VerbsException(
                        "ibv_reg_mr",
                        "%s (%d bytes of a GPU at 0x%x)".formatted(context.deviceName(), length, address),
                        Errno.EOPNOTSUPP,
                        "load the kernel module nvidia_peermem");
            }
            return registerMemory(address, length, access);
        }
        long region = length < 1
                ? -Errno.EINVAL
                : DmaBufCalls.register(
                        handle.address(),
                        dmaBuf.offset(),
                        length,
                        address,
                        dmaBuf.descriptor(),
                        AccessFlag.bits(access));
        if (region < 0) {
            throw new VerbsException(
                    "ibv_reg_dmabuf_mr",
                    "%s (%d bytes of a GPU at 0x%x, %s)".formatted(context.deviceName(), length, address, access),
                    (int) -region,
                    Advice.onRegisteringDmaBuf((int) -region));
        }
        return own(region, address, length);
    }

    private NativeMemoryRegion own(long region, long address, long length) {
        String what = "memory region (%d bytes at 0x%x)".formatted(length, address);
        return new NativeMemoryRegion(context.own(ResourceLedger.Kind.MEMORY_REGION, what, region), address, length);
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
