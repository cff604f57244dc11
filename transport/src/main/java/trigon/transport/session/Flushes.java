package trigon.transport.session;

import java.util.ArrayList;
import java.util.Arrays;
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
 * What NCCL asks a session to make visible in a GPU's memory. A flush is a READ by each device over which data may have
 * come, and done when all of them are: it is never guessed. A device whose port is down may fail to READ; then the
 * flush waits until it can again, unless the GPU's driver can say the same.
 *
 * <p>For the data path's thread, but for {@link #use}, which control threads call while it is kept out.
 */
final class Flushes implements AutoCloseable {

    /** As many requests as NCCL has of a comm. */
    static final int MAX = 32;

    /** What has become of the flush in a slot. */
    private enum Step {
        FREE,
        /** The devices know nothing of it. */
        BEGUN,
        /** Each device that has to READ for it knows of it. */
        READ_FOR
    }

    private final long session;
    private final FlushRepairs repairs;
    private final Map<ProtectionDomain, FlushDevice> byDomain = new LinkedHashMap<>();
    private FlushDevice[] devices = {};

    // of the flush in each slot
    private final long[] numbers = new long[MAX];
    private final Step[] steps = new Step[MAX];
    private final long[] addresses = new long[MAX];
    private final @Nullable RegisteredMemory[] memories = new @Nullable RegisteredMemory[MAX];
    private long next;

    /** Of a session, by its handle. */
    Flushes(long session, FlushRepairs repairs) {
        this.session = session;
        this.repairs = repairs;
        Arrays.fill(steps, Step.FREE);
    }

    /**
     * Data come over these links from now on. May block.
     *
     * @throws trigon.verbs.VerbsException if a device refuses; it can be tried again then
     */
    void use(List<Link> links) {
        Set<ProtectionDomain> carrying = new HashSet<>();
        for (Link link : links) {
            ProtectionDomain domain = link.protectionDomain();
            if (!byDomain.containsKey(domain)) {
                byDomain.put(domain, new FlushDevice(link, repairs));
            }
            carrying.add(domain);
        }
        byDomain.values().forEach(device -> device.reads().carry(carrying.contains(device.domain()), next));
        devices = new ArrayList<>(byDomain.values()).toArray(FlushDevice[]::new);
    }

    /**
     * A flush of what has come so far.
     *
     * @param address of a byte of it, in that memory
     * @return its handle, or 0: there are too many
     */
    long begin(RegisteredMemory memory, long address) {
        int slot = FlushReads.slot(next);
        if (steps[slot] != Step.FREE) {
            return 0;
        }
        numbers[slot] = next++;
        steps[slot] = Step.BEGUN;
        addresses[slot] = address;
        memories[slot] = memory;
        return RequestHandle.ofFlush(session, numbers[slot]);
    }

    /** Whether that handle is of a flush that NCCL has not been told of. */
    boolean has(long request) {
        int slot = FlushReads.slot(RequestHandle.sequence(request));
        return steps[slot] != Step.FREE && RequestHandle.ofFlush(session, numbers[slot]) == request;
    }

    /** Posts a flush that was begun. */
    void post(long request) {
        post(FlushReads.slot(RequestHandle.sequence(request)));
    }

    /** Whether a flush that is {@linkplain #has there} is done; then it is gone. Goes on with all of them. */
    boolean isDone(long request) {
        int slot = FlushReads.slot(RequestHandle.sequence(request));
        if (steps[slot] == Step.BEGUN) {
            post(slot);
        }
        boolean done = true;
        for (FlushDevice device : devices) {
            device.progress();
            done &= !device.reads().owes(slot);
        }
        if (!done) {
            return false;
        }
        steps[slot] = Step.FREE;
        memories[slot] = null;
        return true;
    }

    private void post(int slot) {
        RegisteredMemory memory = memories[slot];
        steps[slot] = Step.READ_FOR;
        for (FlushDevice device : devices) {
            MemoryRegion region = memory == null || !device.reads().isNeeded() ? null : memory.region(device.domain());
            if (region != null) { // what was registered later came over no former device
                device.add(numbers[slot], addresses[slot], region.remoteKey());
            }
        }
    }

    /** Whether a device cannot READ for now. */
    boolean isWaiting() {
        for (FlushDevice device : devices) {
            if (device.reads().isWaiting()) {
                return true;
            }
        }
        return false;
    }

    /** Why the session is unusable; null as long as it is not. */
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

    /** After the last call. */
    @Override
    public void close() {
        byDomain.values().forEach(FlushDevice::close);
        byDomain.clear();
        devices = new FlushDevice[0];
    }
}
