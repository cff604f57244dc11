package trigon.transport.session;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;
import trigon.nccl.GpuWrites;
import trigon.system.Memory;
import trigon.transport.handle.RequestHandle;
import trigon.transport.path.Link;
import trigon.transport.path.RegisteredMemory;
import trigon.transport.request.FlushLayout;
import trigon.transport.request.RequestRow;
import trigon.transport.request.Requests;
import trigon.verbs.ProtectionDomain;

/**
 * A session's flushes, which make received data visible in a GPU's memory. A flush is a READ by each device that may
 * have carried them. It is done when all of them are, or the GPU's driver has said the same; it is never guessed.
 *
 * <p>What is known of flushes is in native memory ({@link FlushLayout}): while one device does all READs, and none has
 * failed, the entry library begins flushes and ends them. By the same functions this goes on with them.
 *
 * <p>For the data path's thread, except for {@link #use}, which control threads call while it is kept out.
 */
public final class FlushQueue implements AutoCloseable {

    /** Delay of a repair: a port that has just gone down does not come up at once. */
    public static final Duration PAUSE = Duration.ofMillis(100);

    /** Requests that NCCL may have outstanding on a comm. */
    static final int MAX = RequestRow.REQUESTS;

    private static final int LINE = 64;
    private static final long NONE = -1;

    /**
     * Services for READs that fail, shared by all sessions.
     *
     * @param threads run what may block, {@link #PAUSE} later
     * @param driver flushes where a device cannot
     * @param patience limit of the time in which READs fail again and again, and of a single repair
     */
    public record Repairs(Executor threads, GpuWrites driver, Duration patience) {}

    private final Requests requests;
    private final LongFunction<@Nullable RegisteredMemory> registrations;
    private final Repairs repairs;
    private final MemorySegment flushes = Arena.ofAuto().allocate(FlushLayout.BYTES, LINE);
    private final long address = flushes.address();

    /** Memory of the flushes that were begun here. */
    private final @Nullable RegisteredMemory[] memories = new @Nullable RegisteredMemory[MAX];

    private final Map<ProtectionDomain, FlushDevice> byDomain = new LinkedHashMap<>();
    private FlushDevice[] devices = {};
    private @Nullable String failure;

    /**
     * Creates an empty queue for the session with those requests. The library finds it there, once it {@linkplain #use
     * may}.
     *
     * @param registrations the session's memory, by its handle
     */
    FlushQueue(Requests requests, LongFunction<@Nullable RegisteredMemory> registrations, Repairs repairs) {
        this.requests = requests;
        this.registrations = registrations;
        this.repairs = repairs;
        Memory.putLongRelease(requests.row() + RequestRow.FLUSHES, address);
    }

    /**
     * Takes the links over which data come from now on. May block.
     *
     * @throws trigon.verbs.VerbsException if a device refuses; it can be tried again then
     */
    void use(List<Link> links) {
        links.forEach(link -> byDomain.computeIfAbsent(
                link.protectionDomain(), _ -> new FlushDevice(link, requests.functions(), this::memory, repairs)));
        devices = byDomain.values().toArray(FlushDevice[]::new);
        byDomain.forEach((domain, device) -> device.carry(
                links.stream().anyMatch(link -> link.protectionDomain().equals(domain))));
        letLibraryFlush();
    }

    /** If one device does all READs to come. */
    private void letLibraryFlush() {
        long only = 0;
        for (FlushDevice device : devices) {
            if (!device.isDone()) {
                only = only == 0 && device.isReady() ? device.reads().address() : NONE;
            }
        }
        Memory.putLong(address + FlushLayout.DEVICE, Math.max(only, 0));
    }

    /**
     * Begins a flush of what has come so far; {@link #progress} posts it. Nobody has to be kept out: a READ that is
     * posted after a move covers all that came over the former device.
     *
     * @param of a byte of it, in that memory
     * @return its handle, or 0: there are too many
     */
    long begin(RegisteredMemory memory, long of) {
        long number = Memory.getLong(address + FlushLayout.NEXT);
        long flush = flush(number);
        if (Memory.getLong(flush + FlushLayout.REQUEST) != 0) {
            return 0;
        }
        long request = RequestHandle.ofFlush(requests.session(), number);
        memories[Requests.slot(number)] = memory;
        Memory.putLong(flush + FlushLayout.REQUEST, request);
        Memory.putLong(flush + FlushLayout.ADDRESS, of);
        Memory.putLong(flush + FlushLayout.MEMORY, memory.handle());
        Memory.putInt(flush + FlushLayout.BEGUN, 0);
        Memory.putInt(flush + FlushLayout.READS, 0);
        Memory.putLong(address + FlushLayout.NEXT, number + 1);
        return request;
    }

    private long flush(long number) {
        return address + FlushLayout.ALL + Requests.slot(number) * FlushLayout.FLUSH_BYTES;
    }

    /** The memory that a flush is of; null: it is not registered any more. */
    private @Nullable RegisteredMemory memory(long flush) {
        long handle = Memory.getLong(flush + FlushLayout.MEMORY);
        RegisteredMemory begunHere = memories[(int) ((flush - flush(0)) / FlushLayout.FLUSH_BYTES)];
        return begunHere != null && begunHere.handle() == handle ? begunHere : registrations.apply(handle);
    }

    /** Tells whether a flush with that handle was begun, and NCCL does not know of its end. */
    boolean has(long request) {
        return Memory.getLong(flush(RequestHandle.sequence(request)) + FlushLayout.REQUEST) == request;
    }

    /**
     * Goes on with all flushes that were posted, and posts this one if it was not.
     *
     * @param request a flush that is {@linkplain #has there}
     * @return true if that one is done; then it is gone
     */
    boolean progress(long request) {
        long flush = flush(RequestHandle.sequence(request));
        boolean begun = Memory.getInt(flush + FlushLayout.BEGUN) != 0;
        for (FlushDevice device : devices) {
            if (!begun) {
                device.add(flush);
            }
            device.progress();
            failure = device.failure() != null ? device.failure() : failure;
        }
        letLibraryFlush();
        Memory.putInt(flush + FlushLayout.BEGUN, 1);
        boolean done = Memory.getInt(flush + FlushLayout.READS) == 0;
        if (done) {
            Memory.putLong(flush + FlushLayout.REQUEST, 0);
        }
        return done;
    }

    /** Tells whether a device cannot READ for now. */
    boolean isWaiting() {
        return Arrays.stream(devices).anyMatch(FlushDevice::isRepairing);
    }

    /** Returns why the session is unusable; null as long as it is usable. */
    @Nullable
    String failure() {
        return failure;
    }

    @Override
    public void close() {
        byDomain.values().forEach(FlushDevice::close);
        byDomain.clear();
        devices = new FlushDevice[0];
    }
}
