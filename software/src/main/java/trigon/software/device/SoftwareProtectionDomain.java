package trigon.software.device;

import java.util.Set;
import trigon.software.memory.MemoryRegions;
import trigon.software.memory.SoftwareMemoryRegion;
import trigon.system.Errno;
import trigon.verbs.AccessFlag;
import trigon.verbs.MemoryRegion;
import trigon.verbs.ProtectionDomain;
import trigon.verbs.ResourceLedger;
import trigon.verbs.VerbsException;

/** A protection domain of a software device. Its state is guarded by the context's monitor. */
final class SoftwareProtectionDomain implements ProtectionDomain {

    private final SoftwareDeviceContext context;
    private final int number;
    private int users;
    private boolean open = true;

    /** A domain with a number that no other of the device has had. */
    SoftwareProtectionDomain(SoftwareDeviceContext context, int number) {
        this.context = context;
        this.number = number;
        context.childOpened(ResourceLedger.Kind.PROTECTION_DOMAIN);
    }

    SoftwareDeviceContext context() {
        return context;
    }

    int number() {
        return number;
    }

    /** A queue pair or memory region begins to use it; ends with {@link #released}. */
    void retained() {
        if (!open) {
            throw new VerbsException(
                    "ibv_reg_mr or ibv_create_qp", toString(), Errno.EINVAL, "the protection domain is closed");
        }
        users++;
    }

    void released() {
        users--;
    }

    @Override
    public MemoryRegion registerMemory(long address, long length, Set<AccessFlag> access) {
        String object = context.deviceName() + " (" + length + " bytes at 0x" + Long.toHexString(address) + ")";
        if (address == 0 || length < 1 || address + length < address) {
            throw new VerbsException("ibv_reg_mr", object, Errno.EINVAL, "not a range of addresses");
        }
        if (access.contains(AccessFlag.REMOTE_WRITE) && !access.contains(AccessFlag.LOCAL_WRITE)) {
            throw new VerbsException("ibv_reg_mr", object, Errno.EINVAL, "REMOTE_WRITE needs LOCAL_WRITE");
        }
        synchronized (context) {
            SoftwareMemoryRegion region;
            retained();
            try {
                region =
                        context.memoryRegions().add(number, address, length, AccessFlag.bits(access), this::deregister);
            } catch (OutOfMemoryError e) {
                released();
                throw e;
            }
            context.ledger().opened(ResourceLedger.Kind.MEMORY_REGION);
            return region;
        }
    }

    private void deregister(SoftwareMemoryRegion region) {
        MemoryRegions.Removed removed;
        synchronized (context) {
            removed = context.memoryRegions().remove(region);
        }
        switch (removed) {
            case UNUSED -> onDeregistered();
            case IN_USE -> {
                context.lockEach(queuePair -> queuePair.forget(region.inC()));
                context.memoryRegions().free(region);
                onDeregistered();
            }
            case BEFORE -> context.lockEach(_ -> {}); // for who closes it while another does
        }
    }

    private void onDeregistered() {
        synchronized (context) {
            released();
            context.ledger().closed(ResourceLedger.Kind.MEMORY_REGION);
        }
    }

    @Override
    public void close() {
        synchronized (context) {
            if (!open) {
                return;
            }
            if (users > 0) {
                throw new VerbsException(
                        "ibv_dealloc_pd",
                        toString(),
                        Errno.EBUSY,
                        "close its " + users + " memory regions and queue pairs first");
            }
            open = false;
            context.childClosed(ResourceLedger.Kind.PROTECTION_DOMAIN);
        }
    }

    @Override
    public String toString() {
        return "protection domain of " + context.deviceName();
    }
}
