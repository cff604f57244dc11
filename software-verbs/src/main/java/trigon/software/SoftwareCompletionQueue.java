package trigon.software;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.verbs.CompletionQueue;
import trigon.verbs.Errno;
import trigon.verbs.ResourceLedger;
import trigon.verbs.VerbsException;
import trigon.verbs.WorkCompletions;

/**
 * A completion queue of a software device: event loops add, one thread polls. When it overruns, its queue pairs go
 * to the error state, and polling it fails once the completions that fitted have been taken.
 */
final class SoftwareCompletionQueue implements CompletionQueue {

    private static final Logger log = LoggerFactory.getLogger(SoftwareCompletionQueue.class);

    private final SoftwareDeviceContext context;
    private final CompletionRing ring;
    private final List<SoftwareQueuePair> queuePairs = new ArrayList<>();
    private final AtomicBoolean overrun = new AtomicBoolean();
    private boolean open = true;

    SoftwareCompletionQueue(SoftwareDeviceContext context, int entries) {
        this.context = context;
        ring = new CompletionRing(entries);
        context.childOpened(ResourceLedger.Kind.COMPLETION_QUEUE);
    }

    SoftwareDeviceContext context() {
        return context;
    }

    @Override
    public int poll(WorkCompletions into) {
        int taken = ring.drain(into);
        return taken == 0 && overrun.get() ? -Errno.EIO : taken;
    }

    // ---- the control thread

    /** A queue pair begins to report here; ends with {@link #detach}. */
    void attach(SoftwareQueuePair queuePair) {
        if (!open) {
            throw new VerbsException(
                    "ibv_create_qp", context.deviceName(), Errno.EINVAL, "the completion queue is closed");
        }
        queuePairs.add(queuePair);
    }

    void detach(SoftwareQueuePair queuePair) {
        queuePairs.remove(queuePair);
    }

    // ---- the event loops

    void add(
            long workRequestId, int status, int opcode, int byteLength, int immediate, int flags, int queuePairNumber) {
        boolean fits = ring.offer(workRequestId, status, opcode, byteLength, immediate, flags, queuePairNumber);
        if (!fits && overrun.compareAndSet(false, true)) {
            // later: the caller is in the middle of a change of its own
            context.control().execute(this::failQueuePairs);
        }
    }

    private void failQueuePairs() {
        log.warn(
                "Completion queue of {} overran its {} entries; its queue pairs stop. Poll it more often or create it"
                        + " larger.",
                context.deviceName(),
                ring.capacity());
        for (SoftwareQueuePair queuePair : List.copyOf(queuePairs)) {
            queuePair.thread().execute(() -> queuePair.enterError("its completion queue overran"));
        }
    }

    @Override
    public void close() {
        context.control().run(() -> {
            if (!open) {
                return;
            }
            if (!queuePairs.isEmpty()) {
                throw new VerbsException(
                        "ibv_destroy_cq", context.deviceName(), Errno.EBUSY, "close its queue pairs first");
            }
            open = false;
            context.childClosed(ResourceLedger.Kind.COMPLETION_QUEUE);
        });
    }
}
