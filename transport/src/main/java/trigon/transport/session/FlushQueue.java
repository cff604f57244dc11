package trigon.transport.session;

import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import trigon.nccl.GpuWrites;
import trigon.transport.handle.RequestHandle;
import trigon.transport.path.Link;
import trigon.transport.path.RegisteredMemory;
import trigon.verbs.ProtectionDomain;

/**
 * A session's flushes, which make received data visible in a GPU's memory. A flush is a READ by each device that may
 * have carried them. It is done when all of them are, or the GPU's driver has said the same; it is never guessed.
 *
 * <p>For the data path's thread, except for {@link #use}, which control threads call while it is kept out.
 */
public final class FlushQueue implements AutoCloseable {

    /** Delay of a repair: a port that has just gone down does not come up at once. */
    public static final Duration PAUSE = Duration.ofMillis(100);

    /** Requests that NCCL may have outstanding on a comm. */
    static final int MAX = 32;

    /**
     * Services for READs that fail, shared by all sessions.
     *
     * @param threads run what may block, {@link #PAUSE} later
     * @param driver flushes where a device cannot
     * @param patience limit of the time in which READs fail again and again, and of a single repair
     */
    public record Repairs(Executor threads, GpuWrites driver, Duration patience) {}

    /** A flush, or room for one. */
    static final class Flush {

        long number;
        long address;

        @Nullable
        RegisteredMemory memory; // null: NCCL has been told of its end

        boolean posted;
        int reads; // that are owed by devices
    }

    private final long session;
    private final Repairs repairs;
    private final Map<ProtectionDomain, FlushDevice> byDomain = new LinkedHashMap<>();
    private FlushDevice[] devices = {};
    private final Flush[] flushes = Stream.generate(Flush::new).limit(MAX).toArray(Flush[]::new);
    private long next;
    private @Nullable String failure;

    /** Creates an empty queue for the session with that handle. */
    FlushQueue(long session, Repairs repairs) {
        this.session = session;
        this.repairs = repairs;
    }

    /**
     * Takes the links over which data come from now on. May block.
     *
     * @throws trigon.verbs.VerbsException if a device refuses; it can be tried again then
     */
    void use(List<Link> links) {
        links.forEach(link -> byDomain.computeIfAbsent(link.protectionDomain(), _ -> new FlushDevice(link, repairs)));
        devices = byDomain.values().toArray(FlushDevice[]::new);
        byDomain.forEach((domain, device) -> device.carry(
                links.stream().anyMatch(link -> link.protectionDomain().equals(domain)), next));
    }

    /**
     * Begins a flush of what has come so far; {@link #progress} posts it. Nobody has to be kept out: a READ that is
     * posted after a move covers all that came over the former device, whichever number the move has seen.
     *
     * @param address of a byte of it, in that memory
     * @return its handle, or 0: there are too many
     */
    long begin(RegisteredMemory memory, long address) {
        Flush flush = flush(next);
        if (flush.memory != null) {
            return 0;
        }
        flush.number = next++;
        flush.address = address;
        flush.memory = memory;
        flush.posted = false;
        return RequestHandle.ofFlush(session, flush.number);
    }

    private Flush flush(long number) {
        return flushes[(int) number & (MAX - 1)];
    }

    /** Tells whether a flush with that handle was begun, and NCCL does not know of its end. */
    boolean has(long request) {
        Flush flush = flush(RequestHandle.sequence(request));
        return flush.memory != null && RequestHandle.ofFlush(session, flush.number) == request;
    }

    /**
     * Goes on with all flushes that were posted, and posts this one if it was not.
     *
     * @param request a flush that is {@linkplain #has there}
     * @return true if that one is done; then it is gone
     */
    boolean progress(long request) {
        Flush flush = flush(RequestHandle.sequence(request));
        for (FlushDevice device : devices) {
            if (!flush.posted) {
                device.add(flush);
            }
            device.progress();
            failure = device.failure() != null ? device.failure() : failure;
        }
        flush.posted = true;
        if (flush.reads == 0) {
            flush.memory = null;
        }
        return flush.reads == 0;
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
