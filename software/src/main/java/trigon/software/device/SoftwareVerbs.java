package trigon.software.device;

import java.io.IOException;
import java.nio.channels.SelectableChannel;
import java.security.SecureRandom;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.software.MoverSettings;
import trigon.software.SoftwareDevice;
import trigon.software.call.SoftwareFunctions;
import trigon.software.connection.AlteredMessages;
import trigon.software.connection.LocalDevice;
import trigon.software.connection.Movers;
import trigon.software.wire.DeviceLimits;
import trigon.stream.dial.Dialer;
import trigon.stream.loop.EventLoop;
import trigon.system.Errno;
import trigon.system.NanoClock;
import trigon.system.PortRange;
import trigon.verbs.DeviceContext;
import trigon.verbs.LinkKind;
import trigon.verbs.ResourceLedger;
import trigon.verbs.VerbsException;
import trigon.verbs.VerbsProvider;

/**
 * The software devices: RDMA verbs over TCP, one device per local IP address.
 *
 * <p>Data are moved by the threads that post and poll. The provider's own threads end with {@link #close}: one accepts
 * connections, and moves data when nobody polls; and where there are processors enough, some move long messages.
 * Thread-safe.
 */
public final class SoftwareVerbs implements VerbsProvider, AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(SoftwareVerbs.class);
    /** 0 and 1 are the management queue pairs of InfiniBand. */
    private static final int FIRST_NUMBER = 2;

    private final Map<String, SoftwareDevice> devices = new LinkedHashMap<>();
    private final ResourceLedger ledger = new ResourceLedger();
    private final EventLoop eventLoop;
    private final Movers movers;
    private final Dialer dialer;
    private final int checks;
    private final PortRange ports;
    private final AlteredMessages altered;
    private int lastNumber = new SecureRandom().nextInt() & DeviceLimits.MAX_QUEUE_PAIR_NUMBER;

    /**
     * A provider of these devices.
     *
     * @throws IllegalArgumentException if two have the same name
     */
    public SoftwareVerbs(List<SoftwareDevice> devices, MoverSettings movers) {
        this(devices, movers, Dialer.DIRECT, 0, PortRange.ANY);
    }

    /**
     * A provider some of whose connections go through relays.
     *
     * @param dialer opens its connections
     * @param checks one in so many of the long messages through relays is checked; 0: none, nor any header
     * @param ports that its devices may listen on
     */
    public SoftwareVerbs(
            List<SoftwareDevice> devices, MoverSettings movers, Dialer dialer, int checks, PortRange ports) {
        this(devices, movers, dialer, checks, ports, NanoClock.SYSTEM);
    }

    /** A provider of these devices, with as many threads as suit this machine. */
    public SoftwareVerbs(List<SoftwareDevice> devices) {
        this(devices, MoverSettings.forProcessors(Runtime.getRuntime().availableProcessors()));
    }

    /**
     * A provider with a clock.
     *
     * @param clock of all its time limits
     */
    SoftwareVerbs(List<SoftwareDevice> devices, MoverSettings movers, NanoClock clock) {
        this(devices, movers, Dialer.DIRECT, 0, PortRange.ANY, clock);
    }

    private SoftwareVerbs(
            List<SoftwareDevice> devices,
            MoverSettings movers,
            Dialer dialer,
            int checks,
            PortRange ports,
            NanoClock clock) {
        for (SoftwareDevice device : devices) {
            add(device);
        }
        eventLoop = new EventLoop("trigon-software", "software links no longer work in this process", clock);
        this.movers = new Movers(movers);
        this.dialer = dialer;
        this.checks = checks;
        this.ports = ports;
        altered = new AlteredMessages(clock);
    }

    /**
     * Has C move the data of all providers by that table of functions, from the first device on that is opened.
     *
     * @param functions address of a {@code struct software_functions}, which lives as long as the process
     */
    public static void moveDataBy(long functions) {
        SoftwareFunctions.install(functions);
    }

    /**
     * One more device, which can be opened from now on.
     *
     * @throws IllegalArgumentException if there is one of that name
     */
    public final void add(SoftwareDevice device) {
        synchronized (devices) {
            if (devices.putIfAbsent(device.name(), device) != null) {
                throw new IllegalArgumentException("two software devices are called " + device.name());
            }
        }
    }

    /** One more device, in the place of one of its name, which nobody may have open. */
    public final void put(SoftwareDevice device) {
        synchronized (devices) {
            devices.put(device.name(), device);
        }
    }

    @Override
    public String name() {
        return "software verbs";
    }

    @Override
    public LinkKind linkKind() {
        return LinkKind.SOFTWARE;
    }

    @Override
    public List<String> deviceNames() {
        synchronized (devices) {
            return List.copyOf(devices.keySet());
        }
    }

    /**
     * Opens a device. Each open device listens on a port of its own, which its port's LID says.
     *
     * @throws VerbsException ENODEV if there is no such device, EADDRNOTAVAIL if its address cannot be listened on
     */
    @Override
    public DeviceContext open(String deviceName) {
        SoftwareDevice device;
        synchronized (devices) {
            device = devices.get(deviceName);
        }
        if (device == null) {
            throw new VerbsException(
                    "ibv_open_device", deviceName, Errno.ENODEV, "the software devices are " + deviceNames());
        }
        return new SoftwareDeviceContext(
                new LocalDevice(device, eventLoop, ports, dialer, checks, altered),
                movers,
                ledger,
                this::nextQueuePairNumber);
    }

    /**
     * Has a task run once, on the provider's own thread, as soon as a channel has something to read or to accept. The
     * channel stays its owner's.
     *
     * @throws IOException if the provider is closed, or there is no selector
     */
    public void whenReady(SelectableChannel channel, Runnable task) throws IOException {
        eventLoop.whenReady(channel, task);
    }

    /** Its clock has moved. */
    void wakeUp() {
        eventLoop.wakeUp();
    }

    @Override
    public ResourceLedger ledger() {
        return ledger;
    }

    /** Ends the threads. What is still open does nothing any more, and may still be closed. */
    @Override
    public void close() {
        if (!ledger.outstanding().isEmpty()) {
            log.warn("closing the software devices with {} open", ledger.outstanding());
        }
        eventLoop.close();
        movers.close();
    }

    /** Counts through all 24 bits before one comes again. */
    private synchronized int nextQueuePairNumber() {
        lastNumber = (lastNumber + 1) & DeviceLimits.MAX_QUEUE_PAIR_NUMBER;
        if (lastNumber < FIRST_NUMBER) {
            lastNumber = FIRST_NUMBER;
        }
        return lastNumber;
    }
}
