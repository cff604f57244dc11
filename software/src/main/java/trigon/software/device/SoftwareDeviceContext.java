package trigon.software.device;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.software.SoftwareDevice;
import trigon.software.call.NativeDevice;
import trigon.software.call.NativePair;
import trigon.software.connection.LocalDevice;
import trigon.software.connection.Movers;
import trigon.software.memory.MemoryRegions;
import trigon.software.wire.DeviceLimits;
import trigon.system.Errno;
import trigon.verbs.AsyncEvent;
import trigon.verbs.AsyncEventType;
import trigon.verbs.CompletionQueue;
import trigon.verbs.DeviceAttributes;
import trigon.verbs.DeviceContext;
import trigon.verbs.Gid;
import trigon.verbs.GidEntry;
import trigon.verbs.LinkLayer;
import trigon.verbs.Mtu;
import trigon.verbs.PortAttributes;
import trigon.verbs.PortState;
import trigon.verbs.ProtectionDomain;
import trigon.verbs.QueuePair;
import trigon.verbs.QueuePairCapacity;
import trigon.verbs.ResourceLedger;
import trigon.verbs.VerbsException;

/**
 * An open software device, with a listener of its own: its port is the LID of the device's only port. What is open of
 * it is counted under its monitor; the methods may be called from any thread.
 */
final class SoftwareDeviceContext implements DeviceContext {

    private static final Logger log = LoggerFactory.getLogger(SoftwareDeviceContext.class);

    private final SoftwareDevice settings;
    private final LocalDevice localDevice;
    private final Movers movers;
    private final ResourceLedger ledger;
    private final IntSupplier queuePairNumbers;
    private final Bell bell;
    private final MemoryRegions memoryRegions;
    private final Map<Integer, QueuePairEngine> queuePairs = new ConcurrentHashMap<>();
    /** Those whose connections were broken, the oldest first. */
    private final Queue<SoftwareQueuePair> broken = new ConcurrentLinkedQueue<>();

    private final Listener listener;
    private volatile Runnable tellOfEvents = () -> {};
    private int domains;
    private int children;
    private boolean open = true;

    /**
     * Opens a device, which listens from now on.
     *
     * @param queuePairNumbers gives each queue pair a number of its own; any thread
     */
    SoftwareDeviceContext(LocalDevice localDevice, Movers movers, ResourceLedger ledger, IntSupplier queuePairNumbers) {
        settings = localDevice.settings();
        this.localDevice = localDevice;
        this.movers = movers;
        this.ledger = ledger;
        this.queuePairNumbers = queuePairNumbers;
        bell = bell(localDevice);
        memoryRegions = new MemoryRegions(bell.device());
        try {
            listener = new Listener(localDevice, this::queuePair);
        } catch (VerbsException e) {
            bell.close();
            throw e;
        }
        ledger.opened(ResourceLedger.Kind.DEVICE_CONTEXT);
        log.debug("{} listens on TCP port {}", settings, listener.port());
    }

    private Bell bell(LocalDevice device) {
        try {
            return new Bell(device.eventLoop(), this::onBell);
        } catch (IOException | OutOfMemoryError e) {
            throw new VerbsException(
                    "ibv_open_device", settings.toString(), Errno.ENOMEM, "no pipe for it: " + e.getMessage());
        }
    }

    private void onBell() {
        queuePairs.values().forEach(QueuePairEngine::onBell);
    }

    @Override
    public String deviceName() {
        return settings.name();
    }

    @Override
    public DeviceAttributes attributes() {
        long guid = Gid.of(settings.address()).low();
        return new DeviceAttributes(
                guid,
                DeviceLimits.PORT,
                DeviceLimits.MAX_WORK_REQUESTS,
                DeviceLimits.MAX_COMPLETIONS,
                DeviceLimits.MAX_READ_ATOMIC);
    }

    @Override
    public PortAttributes queryPort(int port) {
        requirePort("ibv_query_port", port);
        return new PortAttributes(
                PortState.ACTIVE,
                Mtu.MTU_4096,
                DeviceLimits.MAX_MESSAGE_BYTES,
                listener.port(),
                LinkLayer.TCP,
                settings.speedMbps());
    }

    @Override
    public List<GidEntry> gidTable(int port) {
        requirePort("ibv_query_gid_ex", port);
        return List.of(new GidEntry(0, Gid.of(settings.address()), GidEntry.Type.ROCE_V2, settings.interfaceIndex()));
    }

    private void requirePort(String verb, int port) {
        if (port != DeviceLimits.PORT) {
            throw new VerbsException(verb, deviceName(), Errno.EINVAL, "it has no port " + port + ", only port 1");
        }
    }

    @Override
    public ProtectionDomain allocateProtectionDomain() {
        synchronized (this) {
            requireOpen("ibv_alloc_pd");
            return new SoftwareProtectionDomain(this, ++domains);
        }
    }

    @Override
    public CompletionQueue createCompletionQueue(int entries) {
        requireRange("ibv_create_cq", "entries", entries, 1, DeviceLimits.MAX_COMPLETIONS);
        synchronized (this) {
            requireOpen("ibv_create_cq");
            return new SoftwareCompletionQueue(this, entries);
        }
    }

    @Override
    public QueuePair createQueuePair(ProtectionDomain protectionDomain, QueuePairCapacity capacity) {
        String verb = "ibv_create_qp";
        requireRange(verb, "send work requests", capacity.sendWorkRequests(), 1, DeviceLimits.MAX_WORK_REQUESTS);
        requireRange(verb, "receive work requests", capacity.receiveWorkRequests(), 0, DeviceLimits.MAX_WORK_REQUESTS);
        requireRange(verb, "inline bytes", capacity.inlineBytes(), 0, DeviceLimits.MAX_INLINE_BYTES);
        if (!(protectionDomain instanceof SoftwareProtectionDomain domain) || domain.context() != this) {
            throw new VerbsException(verb, deviceName(), Errno.EINVAL, "the protection domain is not this context's");
        }
        SoftwareCompletionQueue sends = own(capacity.sendCompletions());
        SoftwareCompletionQueue receives = own(capacity.receiveCompletions());
        return create(domain, sends, receives, capacity);
    }

    private synchronized SoftwareQueuePair create(
            SoftwareProtectionDomain domain,
            SoftwareCompletionQueue sends,
            SoftwareCompletionQueue receives,
            QueuePairCapacity capacity) {
        requireOpen("ibv_create_qp");
        int number = queuePairNumbers.getAsInt();
        SoftwareQueuePair queuePair = new SoftwareQueuePair(
                this, domain, number, capacity, movers, closed -> release(closed, sends, receives, domain));
        sends.attach(queuePair.engine());
        if (receives != sends) {
            receives.attach(queuePair.engine());
        }
        domain.retained();
        queuePair.engine().inC().attach();
        queuePairs.put(number, queuePair.engine());
        childOpened(ResourceLedger.Kind.QUEUE_PAIR);
        return queuePair;
    }

    private SoftwareCompletionQueue own(CompletionQueue queue) {
        if (queue instanceof SoftwareCompletionQueue mine && mine.context() == this) {
            return mine;
        }
        throw new VerbsException(
                "ibv_create_qp", deviceName(), Errno.EINVAL, "a completion queue is not this context's");
    }

    private void requireRange(String verb, String what, int value, int least, int most) {
        if (value < least || value > most) {
            throw new VerbsException(
                    verb, deviceName(), Errno.EINVAL, value + " " + what + " are not in " + least + ".." + most);
        }
    }

    private void requireOpen(String verb) {
        if (!open) {
            throw new VerbsException(verb, deviceName(), Errno.EINVAL, "the device context is closed");
        }
    }

    /**
     * A queue pair whose connection was broken, if nothing has come of it so far: a peer that ends in order does that,
     * too. Whatever else goes wrong here goes wrong with a work request, and is told by its completion.
     */
    @Override
    public Optional<AsyncEvent> pollAsyncEvent() {
        for (SoftwareQueuePair oldest = broken.poll(); oldest != null; oldest = broken.poll()) {
            if (oldest.engine().isSilentlyBroken()) {
                return Optional.of(new AsyncEvent.OfQueuePair(AsyncEventType.CONNECTION_BROKEN, oldest));
            }
        }
        return Optional.empty();
    }

    @Override
    public void whenAsyncEvent(Runnable tell) {
        tellOfEvents = tell;
    }

    /** A connection of a queue pair was broken; see {@link #pollAsyncEvent}. Any thread. */
    void onBroken(SoftwareQueuePair queuePair) {
        broken.add(queuePair);
        tellOfEvents.run();
    }

    @Override
    public synchronized void close() {
        if (!open) {
            return;
        }
        if (children > 0) {
            throw new VerbsException(
                    "ibv_close_device",
                    deviceName(),
                    Errno.EBUSY,
                    "close its " + children + " queue pairs, completion queues and protection domains first");
        }
        open = false;
        listener.close();
        bell.close();
        ledger.closed(ResourceLedger.Kind.DEVICE_CONTEXT);
        log.debug("{} closed", settings);
    }

    // ---- for what belongs to it; under the monitor unless noted

    /** Any thread. */
    LocalDevice localDevice() {
        return localDevice;
    }

    /**
     * Does something under the lock of each queue pair: once this returns, everybody who moves data has finished what
     * he was doing when it was called. Any thread, without the monitor.
     */
    void lockEach(Consumer<NativePair> action) {
        for (QueuePairEngine queuePair : queuePairs.values()) {
            queuePair.lock().locked(() -> action.accept(queuePair.inC()));
        }
    }

    /** Returns the part of the device in C. Any thread. */
    NativeDevice inC() {
        return bell.device();
    }

    /** Any thread. */
    ResourceLedger ledger() {
        return ledger;
    }

    /** Any thread. */
    MemoryRegions memoryRegions() {
        return memoryRegions;
    }

    private @Nullable QueuePairEngine queuePair(int number) {
        return queuePairs.get(number);
    }

    void childOpened(ResourceLedger.Kind kind) {
        children++;
        ledger.opened(kind);
    }

    void childClosed(ResourceLedger.Kind kind) {
        children--;
        ledger.closed(kind);
    }

    /** A queue pair has ended, and gives back what it used. Takes the monitor. */
    private synchronized void release(
            SoftwareQueuePair queuePair,
            SoftwareCompletionQueue sends,
            SoftwareCompletionQueue receives,
            SoftwareProtectionDomain domain) {
        queuePair.engine().inC().detach();
        sends.detach(queuePair.engine());
        if (receives != sends) {
            receives.detach(queuePair.engine());
        }
        domain.released();
        queuePairs.remove(queuePair.number());
        broken.remove(queuePair);
        childClosed(ResourceLedger.Kind.QUEUE_PAIR);
    }
}
