package trigon.software;

import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.verbs.CompletionQueue;
import trigon.verbs.Errno;
import trigon.verbs.ResourceLedger;
import trigon.verbs.VerbsException;
import trigon.verbs.WorkCompletions;

/**
 * A completion queue of a software device: the event loop adds, one thread polls. When it overruns, its queue pairs go
 * to the error state, and polling it fails once the completions that fitted have been taken.
 */
final class SoftwareCompletionQueue implements CompletionQueue {

    private static final Logger log = LoggerFactory.getLogger(SoftwareCompletionQueue.class);

    private final SoftwareDeviceContext context;
    private final CompletionRing ring;
    private final List<SoftwareQueuePair> queuePairs = new ArrayList<>();
    private volatile boolean overrun;
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
        return taken == 0 && overrun ? -Errno.EIO : taken;
    }

    // ---- the event loop

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

    void add(
            long workRequestId, int status, int opcode, int byteLength, int immediate, int flags, int queuePairNumber) {
        boolean fits = ring.offer(workRequestId, status, opcode, byteLength, immediate, flags, queuePairNumber);
        if (!fits && !overrun) {
            overrun = true;
            // later: the caller is in the middle of a change of its own
            context.thread().execute(this::failQueuePairs);
        }
    }

    private void failQueuePairs() {
        log.warn(
                "Completion queue of {} overran its {} entries; its queue pairs stop. Poll it more often or create it"
                        + " larger.",
                context.deviceName(),
                ring.capacity());
        for (SoftwareQueuePair queuePair : List.copyOf(queuePairs)) {
            queuePair.enterError("its completion queue overran");
        }
    }

    @Override
    public void close() {
        context.thread().run(() -> {
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
