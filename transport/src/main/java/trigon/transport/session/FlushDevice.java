package trigon.transport.session;

import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import trigon.system.Errno;
import trigon.transport.path.FlushQueuePair;
import trigon.transport.path.Link;
import trigon.transport.session.FlushRepair.Outcome;
import trigon.transport.session.FlushRepair.Repair;
import trigon.verbs.ProtectionDomain;
import trigon.verbs.WorkCompletionStatus;
import trigon.verbs.WorkCompletions;

/**
 * A device over which data of a session come, or have come, and its READs. As {@link Flushes}, whose part it is: for
 * the data path's thread, but for its beginning and its end.
 */
final class FlushDevice implements AutoCloseable {

    static final String DEVICE_HAS_FAILED = "its device has failed";

    private static final String TOO_LONG = ", for longer than handshake.peerTimeout; check the cable, and the port";
    private static final String LATE_REPAIR =
            ", and the repair takes longer than handshake.peerTimeout; see dmesg, and restart the job";
    private static final String SEE_DMESG = "; see dmesg, and restart the job";

    private final Link link;
    private final FlushReads reads;
    private final FlushRepair repair;
    private FlushQueuePair queuePair; // of no use while it is repaired

    // of the flush in each slot: its number, and what is READ
    private final long[] numbers = new long[Flushes.MAX];
    private final long[] addresses = new long[Flushes.MAX];
    private final int[] remoteKeys = new int[Flushes.MAX];

    /** Why the queue pair was of no use last. */
    private String trouble = "";

    /** A link's. May block. */
    FlushDevice(Link link, FlushRepairs repairs) {
        this.link = link;
        queuePair = new FlushQueuePair(link, Flushes.MAX);
        repair = new FlushRepair(queuePair, repairs);
        reads = new FlushReads(repairs.patience());
    }

    ProtectionDomain domain() {
        return link.protectionDomain();
    }

    FlushReads reads() {
        return reads;
    }

    /** A flush has to be READ for; its READ is posted, unless it has to wait. */
    void add(long number, long address, int remoteKey) {
        int slot = FlushReads.slot(number);
        numbers[slot] = number;
        addresses[slot] = address;
        remoteKeys[slot] = remoteKey;
        reads.add(number);
        post();
    }

    /** Takes what the device has read, and goes on. */
    void progress() {
        if (reads.state() == FlushReads.State.REPAIRING) {
            lookForRepair();
        }
        if (reads.isReading()) {
            poll();
        }
        if (reads.state() == FlushReads.State.BROKEN) {
            beginRepair();
        }
        post();
    }

    private void lookForRepair() {
        Repair done = repair.take();
        if (done != null) {
            take(done);
        } else if (reads.failLateRepair(System.nanoTime())) {
            trouble += LATE_REPAIR; // a driver hangs
        }
    }

    private void beginRepair() {
        if (reads.beginRepair(System.nanoTime()) && !repair.begin(trouble, owedAddresses())) {
            fail(trouble);
        }
    }

    private long[] owedAddresses() {
        return IntStream.range(0, Flushes.MAX)
                .filter(reads::owes)
                .mapToLong(slot -> addresses[slot])
                .distinct()
                .toArray();
    }

    private void take(Repair done) {
        if (done.isSettled()) {
            reads.settle();
        }
        switch (done.outcome()) {
            case Outcome.Repaired(FlushQueuePair next) -> {
                queuePair = next;
                reads.endRepair();
            }
            case Outcome.Refused(String why) -> breakDown(why);
            case Outcome.Impossible(String why) -> {
                if (done.isSettled()) {
                    breakDown(why); // the driver does without the device
                } else {
                    fail(why);
                }
            }
        }
    }

    private void post() {
        for (int slot = reads.nextToPost(); slot != FlushReads.NO_SLOT; slot = reads.nextToPost()) {
            if (link.hasDeviceFailed()) {
                breakDown(DEVICE_HAS_FAILED);
                return;
            }
            int errno = queuePair.post(numbers[slot], addresses[slot], remoteKeys[slot]);
            if (errno != 0) {
                breakDown(Errno.name(errno));
                return;
            }
            reads.markPosted(slot);
        }
    }

    private void poll() {
        int count = queuePair.poll();
        WorkCompletions completions = queuePair.completions();
        for (int index = 0; index < count; index++) {
            int code = completions.statusCode(index);
            if (code != WorkCompletionStatus.SUCCESS_CODE) {
                breakBy(WorkCompletionStatus.ofCode(code)); // those behind it are flushed
                return;
            }
            if (reads.isInTrouble()) {
                repair.flushesGoOn();
            }
            reads.succeed(completions.workRequestId(index));
        }
        if (count < 0) {
            breakDown(Errno.name(-count));
        } else if (count == 0 && link.hasDeviceFailed()) {
            breakDown(DEVICE_HAS_FAILED); // nothing completes any more
        }
    }

    private void breakBy(WorkCompletionStatus status) {
        if (status.isOfPath()) {
            breakDown(status.toString());
        } else {
            fail(status.toString());
        }
    }

    private void breakDown(String why) {
        reads.breakDown(System.nanoTime());
        trouble = reads.state() == FlushReads.State.FAILED ? why + TOO_LONG : why;
    }

    private void fail(String why) {
        trouble = link.hasDeviceFailed() ? why + SEE_DMESG : why;
        reads.fail();
    }

    /** Why the session is unusable; null as long as it is not. Allocates then. */
    @Nullable
    String failure() {
        return reads.state() == FlushReads.State.FAILED
                ? "what came over %s cannot be flushed to the GPU: %s".formatted(link, trouble)
                : null;
    }

    /** After the last call. */
    @Override
    public void close() {
        repair.close();
    }
}
