package trigon.transport.session;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import trigon.system.Errno;
import trigon.transport.handle.RequestHandle;
import trigon.transport.path.FlushQueuePair;
import trigon.transport.path.Link;
import trigon.transport.path.RegisteredMemory;
import trigon.verbs.MemoryRegion;
import trigon.verbs.ProtectionDomain;
import trigon.verbs.WorkCompletionStatus;
import trigon.verbs.WorkCompletions;

/**
 * What NCCL asks a session to make visible in a GPU's memory. A flush is a READ by each device over which data may have
 * come, and done when all of them are: nothing else says so, and it is never guessed.
 *
 * <p>For the data path's thread, but for {@link #use}, which control threads call while it is kept out.
 */
final class Flushes implements AutoCloseable {

    /** As many requests as NCCL has of a comm. */
    static final int MOST = 32;

    /** What a device has to do with the session. */
    private enum Use {
        CARRIES,
        /** It does not any more, but what it has carried may still be on its way to the GPU. */
        HAS_CARRIED,
        NONE
    }

    private static final class Target {
        private final FlushQueuePair queuePair;
        private final ProtectionDomain domain;
        private Use use = Use.CARRIES;

        /** The first flush since it has ceased to carry. */
        private long since;

        private int outstanding;

        private Target(FlushQueuePair queuePair) {
            this.queuePair = queuePair;
            domain = queuePair.link().protectionDomain();
        }
    }

    // what stands in place of the number of READs that are missing
    private static final int TO_POST = -1;
    private static final int FREE = -2;

    private final long session;
    private final Map<ProtectionDomain, Target> byDomain = new LinkedHashMap<>();
    private Target[] targets = {};

    // of the flush in each slot: its number, the READs that are missing, and what it is of
    private final long[] numbers = new long[MOST];
    private final int[] missing = new int[MOST];
    private final long[] addresses = new long[MOST];
    private final @Nullable RegisteredMemory[] memories = new @Nullable RegisteredMemory[MOST];
    private long next;

    private @Nullable String failure;

    /** Of a session, by its handle. */
    Flushes(long session) {
        this.session = session;
        Arrays.fill(missing, FREE);
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
                byDomain.put(domain, new Target(new FlushQueuePair(link, MOST)));
            }
            carrying.add(domain);
        }
        for (Target target : byDomain.values()) {
            if (carrying.contains(target.domain)) {
                target.use = Use.CARRIES;
            } else if (target.use == Use.CARRIES) {
                target.use = Use.HAS_CARRIED;
                target.since = next;
            }
        }
        targets = new ArrayList<>(byDomain.values()).toArray(Target[]::new);
    }

    /**
     * A flush of what has come so far.
     *
     * @param address of a byte of it, in that memory
     * @return its handle, or 0: there are too many
     */
    long begin(RegisteredMemory memory, long address) {
        int slot = slot(next);
        if (missing[slot] != FREE) {
            return 0;
        }
        numbers[slot] = next++;
        missing[slot] = TO_POST;
        addresses[slot] = address;
        memories[slot] = memory;
        return RequestHandle.ofFlush(session, numbers[slot]);
    }

    /** Whether that handle is of a flush that NCCL has not been told of. */
    boolean has(long request) {
        int slot = slot(RequestHandle.sequence(request));
        return missing[slot] != FREE && RequestHandle.ofFlush(session, numbers[slot]) == request;
    }

    /** Posts a flush that was begun. */
    void post(long request) {
        post(slot(RequestHandle.sequence(request)));
    }

    /** Whether a flush that is {@linkplain #has there} is done; then it is gone. Goes on with all of them. */
    boolean isDone(long request) {
        int slot = slot(RequestHandle.sequence(request));
        if (missing[slot] == TO_POST) {
            post(slot);
        }
        for (Target target : targets) {
            if (target.outstanding > 0 && failure == null) {
                take(target);
            }
        }
        if (missing[slot] != 0 || failure != null) {
            return false;
        }
        missing[slot] = FREE;
        memories[slot] = null;
        return true;
    }

    private void post(int slot) {
        RegisteredMemory memory = memories[slot];
        missing[slot] = 0;
        for (Target target : targets) {
            MemoryRegion region = memory == null || target.use == Use.NONE ? null : memory.region(target.domain);
            if (region != null && failure == null) { // what was registered later came over no former device
                read(target, slot, region.remoteKey());
            }
        }
    }

    private void read(Target target, int slot, int remoteKey) {
        Link link = target.queuePair.link();
        int errno =
                link.hasDeviceFailed() ? Errno.EIO : target.queuePair.post(numbers[slot], addresses[slot], remoteKey);
        if (errno != 0) {
            fail(link, Errno.name(errno));
            return;
        }
        missing[slot]++;
        target.outstanding++;
    }

    private void take(Target target) {
        Link link = target.queuePair.link();
        int count = target.queuePair.poll();
        WorkCompletions completions = target.queuePair.completions();
        for (int index = 0; index < count; index++) {
            int status = completions.statusCode(index);
            if (status != WorkCompletionStatus.SUCCESS_CODE) {
                fail(link, WorkCompletionStatus.ofCode(status).toString());
                return;
            }
            target.outstanding--;
            long number = completions.workRequestId(index);
            missing[slot(number)]--;
            if (target.use == Use.HAS_CARRIED && number >= target.since) {
                target.use = Use.NONE;
            }
        }
        if (count < 0) {
            fail(link, Errno.name(-count));
        } else if (count == 0 && link.hasDeviceFailed()) {
            fail(link, "its device has failed"); // nothing completes any more
        }
    }

    // the end of the session: allocates
    private void fail(Link link, String why) {
        if (failure == null) {
            failure = "what came over %s cannot be flushed to the GPU: %s".formatted(link, why);
        }
    }

    /** Why the session is unusable; null as long as it is not. */
    @Nullable
    String failure() {
        return failure;
    }

    private static int slot(long number) {
        return (int) number & (MOST - 1);
    }

    /** After the last call. */
    @Override
    public void close() {
        byDomain.values().forEach(target -> target.queuePair.close());
        byDomain.clear();
        targets = new Target[0];
    }
}
