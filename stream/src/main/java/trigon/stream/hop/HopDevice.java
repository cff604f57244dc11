package trigon.stream.hop;

import java.security.SecureRandom;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.system.Errno;
import trigon.verbs.DeviceContext;
import trigon.verbs.GidEntry;
import trigon.verbs.PortAttributes;
import trigon.verbs.ProtectionDomain;
import trigon.verbs.VerbsException;

/** An open RDMA device with the queue pairs of its hops. Thread-safe. */
final class HopDevice implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(HopDevice.class);
    private static final RandomGenerator RANDOM = new SecureRandom();

    private final HopPort port;
    private final DeviceContext context;
    private final ProtectionDomain domain;
    private final SlotMemory memory;
    private final Set<HopQueuePair> queuePairs = new HashSet<>(); // guarded by this
    private Phase phase = Phase.OPEN; // guarded by this

    private enum Phase {
        OPEN,
        /** It is closed with its last queue pair. */
        RETIRED,
        CLOSED
    }

    private HopDevice(HopPort port, DeviceContext context, ProtectionDomain domain, SlotMemory memory) {
        this.memory = memory;
        this.port = port;
        this.context = context;
        this.domain = domain;
    }

    /**
     * Opens it.
     *
     * @param memory what its queue pairs lock is taken from that
     * @throws VerbsException if the device refuses; nothing is left open then
     */
    static HopDevice open(HopPort port, SlotMemory memory) {
        DeviceContext context = port.provider().open(port.deviceName());
        try {
            return new HopDevice(port, context, context.allocateProtectionDomain(), memory);
        } catch (VerbsException e) {
            context.close();
            throw e;
        }
    }

    /**
     * A queue pair in INIT, its receives posted.
     *
     * @param wanted what is received into; shorter slots where much memory is locked
     * @throws VerbsException if the device refuses, for example for lack of memory that may be locked
     */
    HopQueuePair openQueuePair(SlotGeometry wanted, HopUse use) {
        HopSlots slots = new HopSlots(this, wanted, use);
        HopQueuePair queuePair = HopQueuePair.open(this, slots, RANDOM.nextInt(1 << 24));
        synchronized (this) {
            if (phase == Phase.OPEN) {
                queuePairs.add(queuePair);
                return queuePair;
            }
        }
        queuePair.close();
        throw new VerbsException("opening a queue pair", toString(), Errno.EIO, "the device has failed");
    }

    /** Drops a queue pair that is destroyed. */
    void forget(HopQueuePair queuePair) {
        boolean last;
        synchronized (this) {
            queuePairs.remove(queuePair);
            last = phase == Phase.RETIRED && queuePairs.isEmpty();
        }
        if (last) {
            closeContext();
        }
    }

    /** Has it closed as soon as none of its queue pairs is left. */
    void retire() {
        boolean unused;
        synchronized (this) {
            phase = phase == Phase.OPEN ? Phase.RETIRED : phase;
            unused = phase == Phase.RETIRED && queuePairs.isEmpty();
        }
        if (unused) {
            closeContext();
        }
    }

    synchronized boolean isClosed() {
        return phase == Phase.CLOSED;
    }

    SlotMemory memory() {
        return memory;
    }

    DeviceContext context() {
        return context;
    }

    ProtectionDomain domain() {
        return domain;
    }

    HopPort port() {
        return port;
    }

    PortAttributes portAttributes() {
        return context.queryPort(port.port());
    }

    /** The index of the address in the port's table now: one that was removed and is back may have another place. */
    int gidIndex() {
        return context.gidTable(port.port()).stream()
                .filter(entry -> entry.gid().equals(port.gid()) && entry.type() != GidEntry.Type.ROCE_V1)
                .mapToInt(GidEntry::index)
                .findFirst()
                .orElseThrow(() -> new VerbsException(
                        "ibv_query_gid_ex", port.deviceName(), 0, "its table does not have " + port.gid()));
    }

    @Override
    public void close() {
        List<HopQueuePair> left;
        synchronized (this) {
            left = List.copyOf(queuePairs);
        }
        left.forEach(HopQueuePair::close);
        closeContext();
    }

    private void closeContext() {
        synchronized (this) {
            if (phase == Phase.CLOSED) {
                return;
            }
            phase = Phase.CLOSED;
        }
        try {
            domain.close();
            context.close();
        } catch (VerbsException e) {
            log.warn("{} stays open: {}", port.deviceName(), e.getMessage());
        }
    }

    @Override
    public String toString() {
        return port.deviceName() + " port " + port.port();
    }
}
