package trigon.transport.session;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.transport.path.FlushQueuePair;
import trigon.transport.path.Link;
import trigon.verbs.VerbsException;

/**
 * Owns a device's queue pair for flushes, and makes it anew when it has failed; what waits for it is flushed by the
 * GPU's driver, where that can. On a control thread, since both may block. The data path asks for it, and looks for the
 * outcome.
 */
final class FlushRepair implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(FlushRepair.class);

    /**
     * What has come of a repair.
     *
     * @param isSettled whether all that waited is there, by the GPU's driver
     */
    record Repair(boolean isSettled, Outcome outcome) {}

    /** What has become of the queue pair. */
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
    private boolean hasToldOfWaiting;
    private boolean hasToldOfDriver;
    private boolean closed;

    /** Written by the control thread while a repair is under way, and taken by the data path. */
    private volatile @Nullable Repair done;

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
     * @param addresses what is to be flushed
     * @return false if that is impossible
     */
    boolean begin(String why, long[] addresses) {
        try {
            repairs.later().execute(() -> done = repair(why, addresses));
            return true;
        } catch (RuntimeException | Error _) { // the plugin is closed, or there is no memory
            return false;
        }
    }

    /** What has come of it, once; null while it is under way. Data path. */
    @Nullable
    Repair take() {
        Repair known = done;
        if (known != null) {
            done = null;
        }
        return known;
    }

    private synchronized Repair repair(String why, long[] addresses) {
        if (closed) {
            return new Repair(false, new Outcome.Impossible("the connection is closed"));
        }
        boolean isSettled = Arrays.stream(addresses).allMatch(this::settle);
        if (isSettled) {
            tellOfDriver(why);
        }
        if (link.hasDeviceFailed()) {
            return new Repair(isSettled, new Outcome.Impossible("its device has failed"));
        }
        if (!isSettled) {
            tellOfWaiting(why);
        }
        return new Repair(isSettled, reopen());
    }

    private boolean settle(long address) {
        try {
            return repairs.gpuWrites().settle(address);
        } catch (RuntimeException | Error e) {
            log.warn("the CUDA driver cannot be asked to flush what came over {}", link, e);
            return false;
        }
    }

    private void tellOfDriver(String why) {
        if (!hasToldOfDriver) {
            hasToldOfDriver = true;
            log.info("what came over {} is flushed to the GPU by the CUDA driver, as the device cannot: {}", link, why);
        }
    }

    private void tellOfWaiting(String why) {
        if (!hasToldOfWaiting) {
            hasToldOfWaiting = true;
            log.warn(
                    "what came over {} cannot be flushed to the GPU yet: {}. It is tried again until"
                            + " handshake.peerTimeout; check the cable, and the port with ibv_devinfo -d {}",
                    link,
                    why,
                    link.device().deviceName());
        }
    }

    private Outcome reopen() {
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
