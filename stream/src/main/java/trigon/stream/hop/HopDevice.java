package trigon.stream.hop;

import java.security.SecureRandom;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
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
    private final Set<HopQueuePair> queuePairs = new HashSet<>(); // guarded by itself

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
     * @param receives what is received into
     * @throws VerbsException if the device refuses, for example for lack of memory that may be locked
     */
    HopQueuePair openQueuePair(SlotGeometry receives) {
        HopQueuePair queuePair = HopQueuePair.open(this, receives, RANDOM.nextInt(1 << 24));
        synchronized (queuePairs) {
            queuePairs.add(queuePair);
        }
        return queuePair;
    }

    /** It is closed. */
    void forget(HopQueuePair queuePair) {
        synchronized (queuePairs) {
            queuePairs.remove(queuePair);
        }
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
        synchronized (queuePairs) {
            left = List.copyOf(queuePairs);
        }
        left.forEach(HopQueuePair::close);
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
