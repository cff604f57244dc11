package trigon.transport.path;

import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import trigon.routing.LocalLink;
import trigon.system.NanoClock;
import trigon.system.RareMessage;
import trigon.transport.metrics.LinkCounters;
import trigon.verbs.DeviceContext;
import trigon.verbs.LinkKind;
import trigon.verbs.MemoryRegion;
import trigon.verbs.PortAttributes;
import trigon.verbs.ProtectionDomain;
import trigon.verbs.QueuePairEndpoint;

/**
 * A local link whose device is open. Shared by all paths over it; lives until the plugin is closed. There is one
 * object for each link, so that links are compared by identity.
 */
public final class Link {

    private static final Logger log = LoggerFactory.getLogger(Link.class);

    private final LocalLink local;
    private final OpenDevice device;
    private final PortAttributes port;
    private final ClearToSendMemory clearToSendMemory;
    private final LinkCounters counters;
    private final RareMessage flushTrouble = new RareMessage(log, Level.WARN, NanoClock.SYSTEM);
    private final Set<PathChannel> paths = ConcurrentHashMap.newKeySet();
    private volatile boolean interfaceUp = true;
    private volatile boolean portUp = true;
    private volatile boolean deviceFailed;

    /**
     * A link.
     *
     * @param local what routing knows of it
     * @param device which other links of the same device share
     * @param port the port's attributes now
     * @param clearToSendMemory where its paths' rings go, and those of no other link
     * @param counters of what goes over it
     */
    Link(
            LocalLink local,
            OpenDevice device,
            PortAttributes port,
            ClearToSendMemory clearToSendMemory,
            LinkCounters counters) {
        this.local = local;
        this.device = device;
        this.port = port;
        this.clearToSendMemory = clearToSendMemory;
        this.counters = counters;
    }

    public LocalLink local() {
        return local;
    }

    /**
     * Returns where the port's GID table has the link's GID now: an address that was removed and is back may have
     * another place. Where it had it at first, if it has it nowhere: the verb that uses it says so. May block.
     */
    int gidIndex() {
        return device.gidIndex(local);
    }

    public DeviceContext device() {
        return device.context();
    }

    /** The domain of its queue pairs and memory. */
    public ProtectionDomain protectionDomain() {
        return device.protectionDomain();
    }

    /** Memory that probes of RDMA paths read and write. */
    MemoryRegion probeMemory() {
        return device.probeMemory();
    }

    /** The port as it was when the device was opened: for what does not change, such as its longest message. */
    public PortAttributes port() {
        return port;
    }

    /** The open paths over it: each adds itself, and takes itself out again. Thread-safe. */
    public Set<PathChannel> paths() {
        return paths;
    }

    /** Tells whether data can go over it, as far as the kernel and the device have said. Any thread, as those below. */
    public boolean isUp() {
        return interfaceUp && portUp && !deviceFailed;
    }

    /** Returns what is down here, and where to look, for the log: a clause; empty if the link {@link #isUp}. */
    Optional<String> whyDown() {
        if (deviceFailed) {
            return Optional.of("device %s has failed; see dmesg".formatted(device().deviceName()));
        }
        if (!interfaceUp) {
            String name = local.interfaceName();
            return Optional.of(
                    "interface %s of this node is down, has no carrier, or has lost its address; check the cable,"
                                    .formatted(name)
                            + " and ip addr show " + name);
        }
        return portUp
                ? Optional.empty()
                : Optional.of("port %d of %s is not active; check the cable, and ibv_devinfo -d %s"
                        .formatted(local.port(), device().deviceName(), device().deviceName()));
    }

    /** Tells whether its interface is up, with a carrier and the address. */
    public boolean isInterfaceUp() {
        return interfaceUp;
    }

    /** The kernel has said something else of its interface. */
    public synchronized void setInterfaceUp(boolean nowUp) {
        interfaceUp = nowUp;
        counters.setUp(isUp());
    }

    /** The device has said whether its port is active. */
    public synchronized void setPortUp(boolean nowUp) {
        portUp = nowUp;
        counters.setUp(isUp());
    }

    /** The device has failed as a whole: it does nothing any more, nor does it complete what it was told to do. */
    public synchronized void deviceHasFailed() {
        deviceFailed = true;
        counters.setUp(isUp());
    }

    /**
     * Has its device do what may hang, and nobody waits for, after all that was begun before. A software device does it
     * in the caller.
     */
    public CompletableFuture<Void> begin(Runnable calls) {
        return device.calls().begin(calls);
    }

    /** Tells whether calls of its device hang. Any thread. */
    public boolean isHanging() {
        return device.calls().isHanging();
    }

    /**
     * Asks its device something, for who would wait there for half a minute and may go elsewhere.
     *
     * @throws trigon.verbs.VerbsException if it does not answer soon
     */
    public void requireAnswer() {
        device.calls().require("ibv_query_port", () -> device.context().queryPort(local.port()));
    }

    /** Tells whether its device has failed as a whole. It stays so; a device that comes back is opened anew. */
    public boolean hasDeviceFailed() {
        return deviceFailed;
    }

    /** Warns of flushes that its device cannot do, once for all sessions: a cut cable takes hundreds of them. */
    public void warnOfFlushes(String text) {
        flushTrouble.log(text);
    }

    ClearToSendMemory clearToSendMemory() {
        return clearToSendMemory;
    }

    /** Returns what went over it, and what failed. */
    public LinkCounters counters() {
        return counters;
    }

    /** A path over it, for errors: queue pairs and GIDs are of use where RDMA has them. */
    String describe(String role, QueuePairEndpoint here, @Nullable QueuePairEndpoint there, String peer) {
        return local.kind() == LinkKind.RDMA
                ? "%s on %s: local %s, peer %s of %s".formatted(role, this, here, there, peer)
                : "%s on %s, peer %s".formatted(role, this, peer);
    }

    @Override
    public String toString() {
        return local.toString();
    }
}
