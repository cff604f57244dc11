package trigon.verbs.ffm;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.system.Errno;
import trigon.verbs.AsyncEvent;
import trigon.verbs.CompletionQueue;
import trigon.verbs.DeviceAttributes;
import trigon.verbs.DeviceContext;
import trigon.verbs.DeviceMemory;
import trigon.verbs.GidEntry;
import trigon.verbs.PortAttributes;
import trigon.verbs.ProtectionDomain;
import trigon.verbs.QueuePair;
import trigon.verbs.QueuePairCapacity;
import trigon.verbs.ResourceLedger;
import trigon.verbs.VerbsException;
import trigon.verbs.ffm.call.AsyncEventCalls;
import trigon.verbs.ffm.call.DataPathCalls;
import trigon.verbs.ffm.call.DeviceCalls;
import trigon.verbs.ffm.call.DmaBufCalls;
import trigon.verbs.ffm.call.ResourceCalls;
import trigon.verbs.ffm.struct.WorkRequestMemory;

/** An open device of libibverbs. Thread-safe. */
final class NativeDeviceContext implements DeviceContext {

    private static final Logger LOG = LoggerFactory.getLogger(NativeDeviceContext.class);

    private final String deviceName;
    private final NativeHandle handle;
    private final Sysfs sysfs;
    private final boolean bypassesKernel;
    private final boolean peerMemory;
    private final ResourceLedger ofProvider;
    private final ResourceLedger children = new ResourceLedger();
    private final WorkRequestMemory workRequestMemory = new WorkRequestMemory();
    private final AsyncEvents asyncEvents;

    /** Made for the first completion queue: init need not wait until these calls are linked. */
    private @Nullable DataPathCalls dataPathCalls;

    /**
     * Takes over an opened device.
     *
     * @param context address of its {@code struct ibv_context}
     * @param sysfs what the kernel says of it
     * @param ledger counts what is open
     */
    NativeDeviceContext(String deviceName, long context, Sysfs sysfs, ResourceLedger ledger) {
        this.deviceName = deviceName;
        this.sysfs = sysfs;
        ofProvider = ledger;
        bypassesKernel = sysfs.bypassesKernel(deviceName);
        peerMemory = bypassesKernel && sysfs.hasPeerMemory(); // others copy by the CPU
        asyncEvents = new AsyncEvents(deviceName, context);
        handle = new NativeHandle(
                ResourceLedger.Kind.DEVICE_CONTEXT,
                deviceName,
                context,
                ledger,
                new ResourceLedger(),
                asyncEvents::haveToldOfItsEnd);
        LOG.debug("opened {}, whose posts are {} calls", deviceName, bypassesKernel ? "critical" : "ordinary");
    }

    @Override
    public String deviceName() {
        return deviceName;
    }

    @Override
    public DeviceAttributes attributes() {
        return DeviceQueries.deviceAttributes(handle.address(), deviceName);
    }

    @Override
    public PortAttributes queryPort(int port) {
        return DeviceQueries.portAttributes(handle.address(), deviceName, port, sysfs);
    }

    @Override
    public List<GidEntry> gidTable(int port) {
        return DeviceQueries.gidTable(handle.address(), deviceName, port, sysfs);
    }

    @Override
    public int partitionKeyIndex(int port) {
        return DeviceQueries.partitionKeyIndex(handle.address(), deviceName, port);
    }

    @Override
    public DeviceMemory deviceMemory() {
        int errno = probeDmaBuf();
        if (errno == Errno.EBADF || peerMemory) {
            return new DeviceMemory(errno == Errno.EBADF, peerMemory, "");
        }
        return DeviceMemory.unreachable(
                DmaBufCalls.isAvailable()
                        ? "ibv_reg_dmabuf_mr says %s on %s, and the kernel module nvidia_peermem is not loaded"
                                .formatted(Errno.name(errno), deviceName)
                        : "libibverbs lacks ibv_reg_dmabuf_mr: install rdma-core 34 or newer");
    }

    /** Registers a descriptor that is none, as NCCL does: a driver that knows DMA-BUFs finds that first (EBADF). */
    private int probeDmaBuf() {
        long domain = DeviceCalls.allocateProtectionDomain(handle.address());
        if (domain < 0) {
            return (int) -domain;
        }
        try {
            return (int) -Math.min(0, DmaBufCalls.register(domain, 0, 0, 0, -1, 0));
        } finally {
            DeviceCalls.deallocateProtectionDomain(domain);
        }
    }

    /** Returns whether it takes memory of GPUs by address. */
    boolean takesPeerMemory() {
        return peerMemory;
    }

    @Override
    public ProtectionDomain allocateProtectionDomain() {
        long domain = DeviceCalls.allocateProtectionDomain(handle.address());
        if (domain < 0) {
            throw new VerbsException("ibv_alloc_pd", deviceName, (int) -domain, "");
        }
        return new NativeProtectionDomain(this, domain);
    }

    @Override
    public CompletionQueue createCompletionQueue(int entries) {
        long completionQueue = ResourceCalls.createCompletionQueue(handle.address(), entries);
        if (completionQueue < 0) {
            int errno = (int) -completionQueue;
            throw new VerbsException(
                    "ibv_create_cq",
                    "%s (%d entries)".formatted(deviceName, entries),
                    errno,
                    Advice.onCreatingCompletionQueue(errno));
        }
        return new NativeCompletionQueue(this, completionQueue, dataPathCalls());
    }

    @Override
    public QueuePair createQueuePair(ProtectionDomain protectionDomain, QueuePairCapacity capacity) {
        if (!(protectionDomain instanceof NativeProtectionDomain domain)
                || !(capacity.sendCompletions() instanceof NativeCompletionQueue sendCompletions)
                || !(capacity.receiveCompletions() instanceof NativeCompletionQueue receiveCompletions)) {
            throw new IllegalArgumentException(
                    "a queue pair of " + deviceName + " needs a protection domain and completion queues of libibverbs");
        }
        return NativeQueuePair.create(this, domain, sendCompletions, receiveCompletions, capacity, dataPathCalls());
    }

    private synchronized DataPathCalls dataPathCalls() {
        DataPathCalls calls = dataPathCalls;
        if (calls == null) {
            calls = DataPathCalls.of(handle.address(), bypassesKernel);
            dataPathCalls = calls;
        }
        return calls;
    }

    @Override
    public Optional<AsyncEvent> pollAsyncEvent() {
        var _ = handle.address();
        return asyncEvents.poll();
    }

    @Override
    public OptionalInt asyncEventDescriptor() {
        return OptionalInt.of(AsyncEventCalls.descriptor(handle.address()));
    }

    /** The device's events; each object tells when it begins and ends. */
    AsyncEvents asyncEvents() {
        return asyncEvents;
    }

    /** The memory in which its queue pairs prepare their work requests. */
    WorkRequestMemory workRequestMemory() {
        return workRequestMemory;
    }

    /** Counts an object that was just created on this device. */
    NativeHandle own(ResourceLedger.Kind kind, String what, long address) {
        return new NativeHandle(
                kind,
                "%s of %s".formatted(what, deviceName),
                address,
                ofProvider,
                children,
                asyncEvents::haveToldOfItsEnd);
    }

    /**
     * Closes the device, unless something of it is still open: libibverbs would free the context all the same, and
     * whoever closed the rest later would crash the process.
     */
    @Override
    public void close() {
        Map<ResourceLedger.Kind, Integer> outstanding = children.outstanding();
        if (outstanding.isEmpty()) {
            if (handle.close("ibv_close_device", DeviceCalls::closeDevice)) {
                workRequestMemory.close();
            }
        } else {
            LOG.warn("{} stays open: {} of it were not closed before", deviceName, outstanding);
        }
    }

    @Override
    public String toString() {
        return deviceName;
    }
}
