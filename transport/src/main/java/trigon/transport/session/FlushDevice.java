package trigon.transport.session;

import java.util.Arrays;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.event.Level;
import trigon.system.Errno;
import trigon.transport.path.FlushQueuePair;
import trigon.transport.path.Link;
import trigon.verbs.ProtectionDomain;
import trigon.verbs.WorkCompletionStatus;
import trigon.verbs.WorkCompletions;

/**
 * A device over which data of a session come, or have come, and its READs for the session's flushes. When a READ fails,
 * a control thread asks the GPU's driver instead, and makes another queue pair, which READs what is still owed.
 *
 * <p>For the data path's thread, except for {@link #repair} and {@link #close}.
 */
final class FlushDevice implements AutoCloseable {

    private static final String DEVICE_HAS_FAILED = "its device has failed";
    private static final String TOO_LONG = ", for longer than handshake.peerTimeout; check the cable, and the port";
    private static final String LATE_REPAIR =
            ", and the repair takes longer than handshake.peerTimeout; see dmesg, and restart the job";

    /** @param settled the driver has flushed all that was owed when the repair began */
    private record Repair(boolean settled, @Nullable FlushQueuePair queuePair, String why) {}

    private final Link link;
    private final FlushRepairs repairs;

    // by slot; the first two belong to Flushes
    private final long[] numbers;
    private final long[] addresses;
    private final int[] remoteKeys = new int[Flushes.MAX];

    // bits by slot: flushes to be READ for, and those of them whose READ is outstanding
    private int owed;
    private int posted;

    private long latest = -1;
    private long latestRead = -1;

    /** The READ for this flush, or for a later one, is the last; MAX_VALUE while data come over the device. */
    private long neededUntil = Long.MAX_VALUE;

    private @Nullable FlushQueuePair queuePair; // null once it has failed
    private boolean repairing;
    private long repairSince;
    private int owedAtRepair;
    private long latestAtRepair;

    /** READs have failed since the last success. */
    private boolean troubled;

    private long troubleSince;
    private String trouble = "";
    private @Nullable String failure;

    // guarded by this
    private @Nullable FlushQueuePair open;
    private boolean closed;

    private volatile @Nullable Repair repaired;

    /** Opens a queue pair on a link's device. May block. */
    FlushDevice(Link link, FlushRepairs repairs, long[] numbers, long[] addresses) {
        this.link = link;
        this.repairs = repairs;
        this.numbers = numbers;
        this.addresses = addresses;
        open = new FlushQueuePair(link, Flushes.MAX);
        queuePair = open;
    }

    ProtectionDomain domain() {
        return link.protectionDomain();
    }

    /** Notes whether data come over the device from the flush with that number on. */
    void carry(boolean carries, long next) {
        if (carries) {
            neededUntil = Long.MAX_VALUE;
        } else if (neededUntil == Long.MAX_VALUE) {
            neededUntil = next;
        }
    }

    /** Data that came over the device may still be on their way to the GPU. */
    boolean isNeeded() {
        return latestRead < neededUntil;
    }

    boolean owes(int slot) {
        return (owed & 1 << slot) != 0;
    }

    /** Flushes wait for another queue pair. */
    boolean isWaiting() {
        return owed != 0 && queuePair == null;
    }

    /** Why the session is unusable; null as long as it is usable. */
    @Nullable
    String failure() {
        return failure;
    }

    /** Posts the READ for a flush, or does so once there is a queue pair. */
    void add(int slot, int remoteKey) {
        if (owed == 0) {
            troubled = false;
        }
        remoteKeys[slot] = remoteKey;
        owed |= 1 << slot;
        latest = numbers[slot];
        post();
    }

    /** Takes what the device has read, and goes on. */
    void progress() {
        if (repairing) {
            takeRepair();
        }
        if (posted != 0 && queuePair != null) {
            poll(queuePair);
        }
        if (isWaiting() && !repairing && failure == null) {
            beginRepair();
        }
        post();
    }

    private void post() {
        FlushQueuePair known = queuePair;
        for (int left = owed & ~posted; known != null && left != 0; left &= left - 1) {
            int slot = Integer.numberOfTrailingZeros(left);
            if (link.hasDeviceFailed()) {
                breakDown(DEVICE_HAS_FAILED);
                return;
            }
            int errno = known.post(numbers[slot], addresses[slot], remoteKeys[slot]);
            if (errno != 0) {
                breakDown(Errno.name(errno));
                return;
            }
            posted |= 1 << slot;
        }
    }

    private void poll(FlushQueuePair known) {
        int count = known.poll();
        WorkCompletions completions = known.completions();
        for (int index = 0; index < count; index++) {
            if (completions.statusCode(index) != WorkCompletionStatus.SUCCESS_CODE) {
                breakDown(WorkCompletionStatus.ofCode(completions.statusCode(index))); // those behind it are flushed
                return;
            }
            long number = completions.workRequestId(index);
            posted &= ~(1 << Flushes.slot(number));
            succeed(1 << Flushes.slot(number), number);
        }
        if (count < 0) {
            breakDown(Errno.name(-count));
        } else if (count == 0 && link.hasDeviceFailed()) {
            breakDown(DEVICE_HAS_FAILED); // nothing completes any more
        }
    }

    private void succeed(int slots, long number) {
        owed &= ~slots;
        troubled = false;
        latestRead = Math.max(latestRead, number);
    }

    private void breakDown(WorkCompletionStatus status) {
        if (status.isOfPath()) {
            breakDown(status.toString());
        } else {
            fail(status.toString()); // the request is wrong, and would be the next time
        }
    }

    private void breakDown(String why) {
        long now = System.nanoTime();
        troubleSince = troubled ? troubleSince : now;
        troubled = true;
        trouble = why;
        queuePair = null;
        posted = 0;
        if (now - troubleSince > repairs.patienceNanos) {
            fail(why + TOO_LONG);
        }
    }

    private void fail(String why) {
        failure = "what came over %s cannot be flushed to the GPU: %s".formatted(link, why);
    }

    private void beginRepair() {
        repairing = true;
        repairSince = System.nanoTime();
        owedAtRepair = owed;
        latestAtRepair = latest;
        String why = trouble;
        long[] what = IntStream.range(0, Flushes.MAX)
                .filter(this::owes)
                .mapToLong(slot -> addresses[slot])
                .distinct()
                .toArray();
        try {
            repairs.later.execute(() -> startRepair(why, what));
        } catch (RuntimeException | Error _) { // the plugin is closed, or there is no memory
            fail(why);
        }
    }

    private void startRepair(String why, long[] what) {
        try {
            repairs.threads.execute(() -> repaired = repair(why, what));
        } catch (RuntimeException | Error e) {
            repaired = new Repair(false, null, "no thread can be made for it (%s; see ulimit -u)".formatted(e));
        }
    }

    // asks the driver without a lock: one that hangs must not hold up the end of the connection
    private Repair repair(String why, long[] what) {
        boolean settled = false;
        try {
            settled = Arrays.stream(what).allMatch(repairs.gpuWrites::settle);
            tell(settled, why);
            return new Repair(settled, reopen(), DEVICE_HAS_FAILED);
        } catch (RuntimeException | Error e) {
            return new Repair(settled, null, e.toString());
        }
    }

    private void tell(boolean settled, String why) {
        if (settled) {
            repairs.log(
                    link,
                    Level.INFO,
                    "what came over %s is flushed to the GPU by the CUDA driver, as the device cannot: %s"
                            .formatted(link, why));
        } else if (!link.hasDeviceFailed()) {
            repairs.log(
                    link,
                    Level.WARN,
                    ("what came over %s cannot be flushed to the GPU yet: %s. It is tried again until"
                                    + " handshake.peerTimeout; check the cable, and the port with ibv_devinfo -d %s")
                            .formatted(link, why, link.device().deviceName()));
        }
    }

    private synchronized @Nullable FlushQueuePair reopen() {
        closeCurrent();
        if (!closed && !link.hasDeviceFailed()) {
            open = new FlushQueuePair(link, Flushes.MAX);
        }
        return open;
    }

    private void takeRepair() {
        Repair done = repaired;
        if (done == null) {
            if (System.nanoTime() - repairSince > repairs.patienceNanos) {
                fail(trouble + LATE_REPAIR); // a driver hangs
            }
            return;
        }
        repaired = null;
        repairing = false;
        if (done.settled()) {
            succeed(owedAtRepair, latestAtRepair);
        }
        queuePair = done.queuePair();
        if (queuePair == null && !done.settled() && link.hasDeviceFailed()) {
            fail(done.why() + "; see dmesg, and restart the job");
        } else if (queuePair == null) {
            breakDown(done.why());
        }
    }

    private void closeCurrent() {
        if (open != null) {
            open.close();
            open = null;
        }
    }

    /** Closes the queue pair, whoever has made it; a repair that is under way makes none. May block. */
    @Override
    public synchronized void close() {
        closed = true;
        closeCurrent();
    }
}
