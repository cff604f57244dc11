package trigon.transport.session;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.transport.path.FlushQueuePair;
import trigon.transport.path.Link;
import trigon.verbs.VerbsException;

/**
 * Owns a device's queue pair for flushes, and makes it anew when it has failed: on a control thread, since that may
 * block. The data path asks for it, and looks for the outcome.
 */
final class FlushRepair implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(FlushRepair.class);

    /** What has come of a repair. */
    sealed interface Outcome {

        /** There is another queue pair; the former one is gone. */
        record Repaired(FlushQueuePair queuePair) implements Outcome {}

        /** There is none, for that reason; it can be tried again. */
        record Refused(String why) implements Outcome {}

        /** There is none, and will be none. */
        record Impossible(String why) implements Outcome {}
    }

    private final Link link;
    private final FlushRepairs repairs;

    // guarded by this
    private @Nullable FlushQueuePair current;
    private boolean told;
    private boolean closed;

    /** Written by the control thread while a repair is under way, and taken by the data path. */
    private volatile @Nullable Outcome outcome;

    /** Of a queue pair that is ready. */
    FlushRepair(FlushQueuePair first, FlushRepairs repairs) {
        link = first.link();
        current = first;
        this.repairs = repairs;
    }

    /**
     * Has a control thread make another one. Data path; the former one must not be used any more.
     *
     * @param why the former one is of no use
     * @return false if that is impossible
     */
    boolean begin(String why) {
        try {
            repairs.later().execute(() -> outcome = repair(why));
            return true;
        } catch (RuntimeException | Error _) { // the plugin is closed, or there is no memory
            return false;
        }
    }

    /** What has come of it, once; null while it is under way. Data path. */
    @Nullable
    Outcome take() {
        Outcome known = outcome;
        if (known != null) {
            outcome = null;
        }
        return known;
    }

    private synchronized Outcome repair(String why) {
        if (closed) {
            return new Outcome.Impossible("the connection is closed");
        }
        if (link.hasDeviceFailed()) {
            return new Outcome.Impossible("its device has failed");
        }
        if (!told) {
            told = true;
            log.warn(
                    "what came over {} cannot be flushed to the GPU yet: {}. It is tried again until"
                            + " handshake.peerTimeout; check the cable, and the port with ibv_devinfo -d {}",
                    link,
                    why,
                    link.device().deviceName());
        }
        try {
            closeCurrent();
            FlushQueuePair next = new FlushQueuePair(link, Flushes.MOST);
            current = next;
            return new Outcome.Repaired(next);
        } catch (VerbsException e) {
            return new Outcome.Refused(String.valueOf(e.getMessage()));
        } catch (RuntimeException | Error e) {
            log.warn("{}: the queue pair for flushes cannot be made anew", link, e);
            return new Outcome.Impossible(e.toString());
        }
    }

    private void closeCurrent() {
        FlushQueuePair known = current;
        current = null;
        if (known != null) {
            known.close();
        }
    }

    /** The queue pair is closed, whoever has made it; a repair that is under way makes none. May block. */
    @Override
    public synchronized void close() {
        closed = true;
        closeCurrent();
    }
}
