package trigon.software.device;

import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.software.call.NativeQueue;
import trigon.system.Errno;
import trigon.verbs.CompletionQueue;
import trigon.verbs.NativePoll;
import trigon.verbs.ResourceLedger;
import trigon.verbs.VerbsException;
import trigon.verbs.WorkCompletions;

/**
 * A completion queue of a software device: whoever moves a queue pair's data adds, one thread polls, and moves data
 * itself when there is nothing to take. When it overruns, its queue pairs go to the error state, and polling it fails
 * once the completions that fitted have been taken.
 */
final class SoftwareCompletionQueue implements CompletionQueue {

    private static final Logger log = LoggerFactory.getLogger(SoftwareCompletionQueue.class);

    private final SoftwareDeviceContext context;
    private final NativeQueue queue;
    private final int entries;
    private final Set<QueuePairEngine> queuePairs = ConcurrentHashMap.newKeySet();
    private boolean open = true;

    SoftwareCompletionQueue(SoftwareDeviceContext context, int entries) {
        this.context = context;
        this.entries = entries;
        queue = new NativeQueue(entries);
        context.childOpened(ResourceLedger.Kind.COMPLETION_QUEUE);
    }

    SoftwareDeviceContext context() {
        return context;
    }

    NativeQueue inC() {
        return queue;
    }

    @Override
    public int poll(WorkCompletions into) {
        return queue.poll(into.capacity(), into.address());
    }

    @Override
    public Optional<NativePoll> nativePoll() {
        return Optional.of(queue.nativePoll());
    }

    // ---- under the context's monitor

    /** A queue pair begins to report here; ends with {@link #detach}. */
    void attach(QueuePairEngine queuePair) {
        if (!open) {
            throw new VerbsException(
                    "ibv_create_qp", context.deviceName(), Errno.EINVAL, "the completion queue is closed");
        }
        queuePairs.add(queuePair);
    }

    void detach(QueuePairEngine queuePair) {
        queuePairs.remove(queuePair);
    }

    // ---- any thread

    /** It had no room for a completion of a queue pair, under whose lock this is called. */
    void onOverrun() {
        context.localDevice().eventLoop().execute(this::failQueuePairs);
    }

    private void failQueuePairs() {
        log.warn(
                "Completion queue of {} overran its {} entries; its queue pairs stop. Poll it more often or create it"
                        + " larger.",
                context.deviceName(),
                entries);
        queuePairs.forEach(QueuePairEngine::failOfOverrun);
    }

    @Override
    public void close() {
        synchronized (context) {
            if (!open) {
                return;
            }
            if (!queuePairs.isEmpty()) {
                throw new VerbsException(
                        "ibv_destroy_cq", context.deviceName(), Errno.EBUSY, "close its queue pairs first");
            }
            open = false;
            context.childClosed(ResourceLedger.Kind.COMPLETION_QUEUE);
        }
    }
}
