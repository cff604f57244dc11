package trigon.transport.session;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;
import trigon.system.Errno;
import trigon.system.Memory;
import trigon.transport.path.FlushQueuePair;
import trigon.transport.path.Link;
import trigon.transport.path.RegisteredMemory;
import trigon.transport.request.FlushLayout;
import trigon.transport.request.FlushReads;
import trigon.transport.request.LaneFunctions;
import trigon.verbs.MemoryRegion;
import trigon.verbs.WorkCompletionStatus;

/**
 * The READs of one device for a session's flushes. While they fail, the GPU's driver is asked instead, and another
 * queue pair is made, until one of them flushes, or {@code handshake.peerTimeout} is over.
 *
 * <p>For the data path's thread, except for {@link Repair#run} and {@link #close}.
 */
final class FlushDevice implements AutoCloseable {

    private static final String DEVICE_HAS_FAILED = "its device has failed";

    private final Link link;
    private final LongFunction<@Nullable RegisteredMemory> memories;
    private final FlushQueue.Repairs repairs;
    private final FlushReads reads;
    private long last = Long.MAX_VALUE; // the first READ that no data over the device come after

    /** Null: it could not be made again. The device's thread has it while it makes another one. */
    private @Nullable FlushQueuePair queuePair;

    private final AtomicBoolean reopening = new AtomicBoolean();

    private boolean replaced; // READs go by another one once that thread has made it

    /** Why it could not; null: nothing was in the way. */
    private @Nullable String obstacle;

    private boolean driverFlushes;
    private @Nullable Repair repair;
    private String trouble = DEVICE_HAS_FAILED;
    private long failedAt = -1; // READs done by then
    private long failingSince;
    private @Nullable String failure;
    private boolean closed; // guarded by this

    /**
     * Opens a queue pair on a link's device. May block.
     *
     * @param memories what a flush is of, by its address
     */
    FlushDevice(
            Link link,
            LaneFunctions functions,
            LongFunction<@Nullable RegisteredMemory> memories,
            FlushQueue.Repairs repairs) {
        this.link = link;
        this.memories = memories;
        this.repairs = repairs;
        queuePair = new FlushQueuePair(link, FlushQueue.MAX);
        reads = new FlushReads(functions);
        queuePair.show(reads);
    }

    FlushReads reads() {
        return reads;
    }

    /** Notes whether data come over the device from now on. */
    void carry(boolean carries) {
        last = carries ? Long.MAX_VALUE : Math.min(last, reads.owed());
    }

    /** Tells whether all that has come over the device is flushed, and nothing more comes. */
    boolean isDone() {
        return reads.done() > last;
    }

    /** Tells whether READs can be posted. */
    boolean isReady() {
        return !isRepairing() && queuePair != null && failure == null;
    }

    boolean isRepairing() {
        return repair != null || replaced;
    }

    /** Returns why the session is unusable; null as long as it is usable. */
    @Nullable
    String failure() {
        return failure;
    }

    /** Takes on a flush, if what it is of may have come over the device. */
    void add(long flush) {
        if (!isDone() && region(flush) != null) { // what was registered later came over no former device
            reads.owe(flush);
            post(flush);
        }
    }

    private @Nullable MemoryRegion region(long flush) {
        RegisteredMemory memory = memories.apply(flush);
        return memory == null ? null : memory.region(link.protectionDomain());
    }

    private void post(long flush) {
        MemoryRegion region = region(flush);
        if (!isRepairing() && queuePair != null) {
            int errno = reads.post(flush, region == null ? 0 : region.remoteKey());
            if (errno != 0) {
                repair(Errno.name(errno));
            }
        }
    }

    /** Takes what the device, or a repair, has done. */
    void progress() {
        if (repair != null) {
            take(repair);
        } else if (replaced && !reopening.get()) {
            takeUp();
        } else if (reads.done() < reads.owed() && failure == null) {
            if (replaced && !driverFlushes) {
                failIfLate(failingSince); // the device hangs
            } else if (replaced || queuePair == null) {
                repair(trouble);
            } else {
                poll();
            }
        }
    }

    private void poll() {
        long before = reads.done();
        int trouble = reads.poll();
        if (trouble > 0) {
            readFailed(WorkCompletionStatus.ofCode(trouble));
        } else if (trouble < 0) {
            repair(Errno.name(-trouble));
        } else if (reads.done() == before && link.hasDeviceFailed()) {
            repair(DEVICE_HAS_FAILED); // nothing completes any more
        }
    }

    private void readFailed(WorkCompletionStatus status) {
        if (status.isOfPath()) {
            repair(status.toString());
        } else {
            fail(status.toString()); // the request is wrong, and would be the next time
        }
    }

    private void repair(String why) {
        long now = System.nanoTime();
        failingSince = failedAt == reads.done() ? failingSince : now;
        failedAt = reads.done();
        trouble = why;
        if (now - failingSince > repairs.patience().toNanos()) {
            fail(why + ", for longer than handshake.peerTimeout; check the cable, and the port");
            return;
        }
        repair = new Repair();
        replaced = true;
        try {
            repairs.threads().execute(repair);
        } catch (RuntimeException | Error _) { // the plugin is closed, or there is no memory
            fail(why);
        }
    }

    private void take(Repair taken) {
        if (!taken.over) {
            failIfLate(taken.since);
            return;
        }
        repair = null;
        driverFlushes = taken.settled;
        if (taken.settled) {
            Arrays.stream(taken.addresses).forEach(_ -> reads.finish());
        } else if (link.hasDeviceFailed()) {
            fail(taken.obstacle + "; see dmesg, and restart the job");
        }
        if (!reopening.get()) {
            takeUp();
        }
    }

    /** The device's thread has made another queue pair, or cannot. */
    private void takeUp() {
        replaced = false;
        if (queuePair != null) {
            queuePair.show(reads);
            reads.underWay().forEach(this::post);
        } else if (reads.done() < reads.owed() && failure == null) {
            repair(obstacle == null ? trouble : obstacle);
        }
    }

    /** A driver hangs, or the device does. */
    private void failIfLate(long since) {
        if (System.nanoTime() - since > repairs.patience().toNanos()) {
            fail(trouble + ", and the repair takes longer than handshake.peerTimeout; see dmesg, and restart the job");
        }
    }

    private void fail(String why) {
        failure = "what came over %s cannot be flushed to the GPU: %s".formatted(link, why);
    }

    /** Asks the driver for all that is owed, and has another queue pair made. */
    private final class Repair implements Runnable {

        private final long[] addresses = reads.underWay()
                .map(flush -> Memory.getLong(flush + FlushLayout.ADDRESS))
                .toArray();
        private final long since = System.nanoTime();
        private boolean settled;
        private String obstacle = DEVICE_HAS_FAILED;
        private volatile boolean over; // written last

        // asks the driver without a lock: one that hangs must not hold up the end of the connection
        @Override
        public void run() {
            try {
                settled = Arrays.stream(addresses).distinct().allMatch(repairs.driver()::settle);
                warn();
                if (reopening.compareAndSet(false, true)) {
                    var _ = link.begin(FlushDevice.this::reopen);
                }
            } catch (RuntimeException | Error e) {
                obstacle = e.toString();
            }
            over = true;
        }

        private void warn() {
            String what = "what came over " + link;
            if (settled) {
                link.warnOfFlushes(
                        what + " is flushed to the GPU by the CUDA driver, as the device cannot: " + trouble);
            } else if (!link.hasDeviceFailed()) {
                link.warnOfFlushes(("%s cannot be flushed to the GPU yet: %s. It is tried again until"
                                + " handshake.peerTimeout; check the cable, and the port with ibv_devinfo -d %s")
                        .formatted(what, trouble, link.device().deviceName()));
            }
        }
    }

    private synchronized void reopen() {
        try {
            closeQueuePair();
            obstacle = null;
            if (!closed && !link.hasDeviceFailed()) {
                queuePair = new FlushQueuePair(link, FlushQueue.MAX);
            }
        } catch (RuntimeException | Error e) {
            obstacle = e.toString();
        } finally {
            reopening.set(false);
        }
    }

    private void closeQueuePair() {
        if (queuePair != null) {
            queuePair.close();
            queuePair = null;
        }
    }

    /** Closes the queue pair, whoever has made it; a repair that is under way makes none. May block. */
    @Override
    public synchronized void close() {
        closed = true;
        closeQueuePair();
    }
}
