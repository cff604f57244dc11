package trigon.software.device;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.software.queue.CompletionRing;
import trigon.system.Errno;
import trigon.verbs.CompletionQueue;
import trigon.verbs.ResourceLedger;
import trigon.verbs.VerbsException;
import trigon.verbs.WorkCompletions;

/**
 * A completion queue of a software device: whoever moves a queue pair's data adds, one thread polls, and moves data
 * itself when there is nothing to take. When it overruns, its queue pairs go to the error state, and polling it fails
 * once the completions that fitted have been taken.
 */
final class SoftwareCompletionQueue implements CompletionQueue, CompletionSink {

    private static final Logger log = LoggerFactory.getLogger(SoftwareCompletionQueue.class);

    private final SoftwareDeviceContext context;
    private final CompletionRing ring;
    /** Replaced with every change, by {@link #attach} and {@link #detach}. */
    private volatile QueuePairEngine[] queuePairs = new QueuePairEngine[0];

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
        if (taken == 0) {
            for (QueuePairEngine queuePair : queuePairs) {
                queuePair.lock().poll();
            }
            taken = ring.drain(into);
        }
        return taken == 0 && overrun.get() ? -Errno.EIO : taken;
    }

    // ---- under the context's monitor

    /** A queue pair begins to report here; ends with {@link #detach}. */
    void attach(QueuePairEngine queuePair) {
        if (!open) {
            throw new VerbsException(
                    "ibv_create_qp", context.deviceName(), Errno.EINVAL, "the completion queue is closed");
        }
        QueuePairEngine[] more = Arrays.copyOf(queuePairs, queuePairs.length + 1);
        more[queuePairs.length] = queuePair;
        queuePairs = more;
    }

    void detach(QueuePairEngine queuePair) {
        int at = Arrays.asList(queuePairs).indexOf(queuePair);
        QueuePairEngine[] fewer = Arrays.copyOf(queuePairs, queuePairs.length - 1);
        System.arraycopy(queuePairs, at + 1, fewer, at, fewer.length - at);
        queuePairs = fewer;
    }

    // ---- who moves a queue pair's data

    @Override
    public void add(
            long workRequestId, int status, int opcode, int byteLength, int immediate, int flags, int queuePairNumber) {
        boolean fits = ring.offer(workRequestId, status, opcode, byteLength, immediate, flags, queuePairNumber);
        if (!fits && overrun.compareAndSet(false, true)) {
            // later: the caller is in the middle of a change of its own
            context.localDevice().eventLoop().execute(this::failQueuePairs);
        }
    }

    private void failQueuePairs() {
        log.warn(
                "Completion queue of {} overran its {} entries; its queue pairs stop. Poll it more often or create it"
                        + " larger.",
                context.deviceName(),
                ring.capacity());
        for (QueuePairEngine queuePair : queuePairs) {
            queuePair.lock().locked(() -> queuePair.enterError("its completion queue overran"));
        }
    }

    @Override
    public void close() {
        synchronized (context) {
            if (!open) {
                return;
            }
            if (queuePairs.length > 0) {
                throw new VerbsException(
                        "ibv_destroy_cq", context.deviceName(), Errno.EBUSY, "close its queue pairs first");
            }
            open = false;
            context.childClosed(ResourceLedger.Kind.COMPLETION_QUEUE);
        }
    }
}
