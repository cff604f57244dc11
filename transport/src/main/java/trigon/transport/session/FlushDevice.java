package trigon.transport.session;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Queue;
import org.jspecify.annotations.Nullable;
import trigon.system.Errno;
import trigon.transport.path.FlushQueuePair;
import trigon.transport.path.Link;
import trigon.transport.session.FlushQueue.Flush;
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
    private final FlushQueue.Repairs repairs;

    /** Flushes that the device has not done, in the order of their READs. */
    private final Queue<Flush> owed = new ArrayDeque<>(FlushQueue.MAX);

    private long done = -1; // the latest flush
    private long last = Long.MAX_VALUE; // the first flush that no data over the device come after

    /** The device's, and the repair's while there is one. Null: it could not be made again. */
    private @Nullable FlushQueuePair queuePair;

    private @Nullable Repair repair;
    private String trouble = DEVICE_HAS_FAILED;
    private boolean failing; // since the last success
    private long failingSince;
    private @Nullable String failure;
    private boolean closed; // guarded by this

    /** Opens a queue pair on a link's device. May block. */
    FlushDevice(Link link, FlushQueue.Repairs repairs) {
        this.link = link;
        this.repairs = repairs;
        queuePair = new FlushQueuePair(link, FlushQueue.MAX);
    }

    /** Notes whether data come over the device from the flush with that number on. */
    void carry(boolean carries, long next) {
        last = carries ? Long.MAX_VALUE : Math.min(last, next);
    }

    boolean isRepairing() {
        return repair != null;
    }

    /** Returns why the session is unusable; null as long as it is usable. */
    @Nullable
    String failure() {
        return failure;
    }

    /** Takes on a flush, if what it is of may have come over the device. */
    void add(Flush flush) {
        if (done < last && region(flush) != null) { // what was registered later came over no former device
            owed.add(flush);
            flush.reads++;
            post(flush);
        }
    }

    private @Nullable MemoryRegion region(Flush flush) {
        return flush.memory == null ? null : flush.memory.region(link.protectionDomain());
    }

    private void post(Flush flush) {
        MemoryRegion region = region(flush);
        if (repair == null && queuePair != null) {
            int errno = queuePair.post(flush.address, region == null ? 0 : region.remoteKey());
            if (errno != 0) {
                repair(Errno.name(errno));
            }
        }
    }

    /** Takes what the device, or a repair, has done. */
    void progress() {
        if (repair != null) {
            take(repair);
        } else if (!owed.isEmpty() && failure == null) {
            if (queuePair == null) {
                repair(trouble);
            } else {
                poll(queuePair);
            }
        }
    }

    private void poll(FlushQueuePair known) {
        int count = known.poll();
        for (int index = 0; index < count; index++) {
            int code = known.completions().statusCode(index);
            if (code != WorkCompletionStatus.SUCCESS_CODE) {
                readFailed(WorkCompletionStatus.ofCode(code));
                return; // those behind it are flushed from the queue
            }
            succeed(1);
        }
        if (count < 0) {
            repair(Errno.name(-count));
        } else if (count == 0 && link.hasDeviceFailed()) {
            repair(DEVICE_HAS_FAILED); // nothing completes any more
        }
    }

    private void succeed(int count) {
        for (int i = 0; i < count; i++) {
            Flush flush = owed.remove();
            flush.reads--;
            done = flush.number;
        }
        failing = false;
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
        failingSince = failing ? failingSince : now;
        failing = true;
        trouble = why;
        if (now - failingSince > repairs.patience().toNanos()) {
            fail(why + ", for longer than handshake.peerTimeout; check the cable, and the port");
            return;
        }
        repair = new Repair();
        try {
            repairs.threads().execute(repair);
        } catch (RuntimeException | Error _) { // the plugin is closed, or there is no memory
            fail(why);
        }
    }

    private void take(Repair taken) {
        if (!taken.over) {
            if (System.nanoTime() - taken.since > repairs.patience().toNanos()) { // a driver hangs
                fail(trouble
                        + ", and the repair takes longer than handshake.peerTimeout; see dmesg, and restart the job");
            }
            return;
        }
        repair = null;
        if (taken.settled) {
            succeed(taken.addresses.length);
        }
        if (queuePair != null) {
            owed.forEach(this::post);
        } else if (!taken.settled && link.hasDeviceFailed()) {
            fail(taken.obstacle + "; see dmesg, and restart the job");
        } else if (!taken.settled) {
            repair(taken.obstacle);
        }
    }

    private void fail(String why) {
        failure = "what came over %s cannot be flushed to the GPU: %s".formatted(link, why);
    }

    /** Asks the driver for all that is owed, and makes another queue pair. */
    private final class Repair implements Runnable {

        private final long[] addresses =
                owed.stream().mapToLong(flush -> flush.address).toArray();
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
                reopen();
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
        closeQueuePair();
        if (!closed && !link.hasDeviceFailed()) {
            queuePair = new FlushQueuePair(link, FlushQueue.MAX);
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
