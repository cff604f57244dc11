package trigon.transport.session;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import trigon.transport.handle.RequestHandle;
import trigon.transport.path.Link;
import trigon.transport.path.RegisteredMemory;
import trigon.verbs.MemoryRegion;
import trigon.verbs.ProtectionDomain;

/**
 * A session's flushes, which make what has come visible in a GPU's memory. A flush is a READ by each device over which
 * data may have come, and done when all of them are: it is never guessed. A device whose port is down may fail to READ;
 * then the flush waits until it can again, unless the GPU's driver can say the same.
 *
 * <p>For the data path's thread, but for {@link #use}, which control threads call while it is kept out.
 */
final class Flushes implements AutoCloseable {

    /** As many requests as NCCL has of a comm. */
    static final int MAX = 32;

    private final long session;
    private final FlushRepairs repairs;
    private final Map<ProtectionDomain, FlushDevice> byDomain = new LinkedHashMap<>();
    private FlushDevice[] devices = {};

    // of the flush in each slot
    private final long[] numbers = new long[MAX];
    private final long[] addresses = new long[MAX];
    private final @Nullable RegisteredMemory[] memories = new @Nullable RegisteredMemory[MAX];

    // bits by slot: flushes that NCCL has not been told of, and those of them that no device knows
    private int begun;
    private int unposted;
    private long next;

    /** Begins with no flush, for a session with that handle. */
    Flushes(long session, FlushRepairs repairs) {
        this.session = session;
        this.repairs = repairs;
    }

    /**
     * Takes the links over which data come from now on. May block.
     *
     * @throws trigon.verbs.VerbsException if a device refuses; it can be tried again then
     */
    void use(List<Link> links) {
        Set<ProtectionDomain> carrying = new HashSet<>();
        for (Link link : links) {
            ProtectionDomain domain = link.protectionDomain();
            if (!byDomain.containsKey(domain)) {
                byDomain.put(domain, new FlushDevice(link, repairs, numbers, addresses));
            }
            carrying.add(domain);
        }
        byDomain.values().forEach(device -> device.carry(carrying.contains(device.domain()), next));
        devices = new ArrayList<>(byDomain.values()).toArray(FlushDevice[]::new);
    }

    /**
     * Begins a flush of what has come so far.
     *
     * @param address of a byte of it, in that memory
     * @return its handle, or 0: there are too many
     */
    long begin(RegisteredMemory memory, long address) {
        int slot = slot(next);
        if ((begun & 1 << slot) != 0) {
            return 0;
        }
        begun |= 1 << slot;
        unposted |= 1 << slot;
        numbers[slot] = next++;
        addresses[slot] = address;
        memories[slot] = memory;
        return RequestHandle.ofFlush(session, numbers[slot]);
    }

    /** NCCL has not been told of the end of the flush with that handle. */
    boolean has(long request) {
        int slot = slot(RequestHandle.sequence(request));
        return (begun & 1 << slot) != 0 && RequestHandle.ofFlush(session, numbers[slot]) == request;
    }

    /** Posts a flush that was begun. */
    void post(long request) {
        int slot = slot(RequestHandle.sequence(request));
        RegisteredMemory memory = memories[slot];
        unposted &= ~(1 << slot);
        for (FlushDevice device : devices) {
            MemoryRegion region = memory == null || !device.isNeeded() ? null : memory.region(device.domain());
            if (region != null) { // what was registered later came over no former device
                device.add(slot, region.remoteKey());
            }
        }
    }

    /**
     * Goes on with all flushes.
     *
     * @param request a flush that is {@linkplain #has there}
     * @return true if that one is done; then it is gone
     */
    boolean progress(long request) {
        int slot = slot(RequestHandle.sequence(request));
        if ((unposted & 1 << slot) != 0) {
            post(request);
        }
        boolean done = true;
        for (FlushDevice device : devices) {
            device.progress();
            done &= !device.owes(slot);
        }
        if (done) {
            begun &= ~(1 << slot);
            memories[slot] = null;
        }
        return done;
    }

    /** Returns where a flush is kept, by its number. */
    static int slot(long number) {
        return (int) number & (MAX - 1);
    }

    /** A device cannot READ for now. */
    boolean isWaiting() {
        for (FlushDevice device : devices) {
            if (device.isWaiting()) {
                return true;
            }
        }
        return false;
    }

    /** Why the session is unusable; null as long as it is usable. */
    @Nullable
    String failure() {
        for (FlushDevice device : devices) {
            String failure = device.failure();
            if (failure != null) {
                return failure;
            }
        }
        return null;
    }

    @Override
    public void close() {
        byDomain.values().forEach(FlushDevice::close);
        byDomain.clear();
        devices = new FlushDevice[0];
    }
}
