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

    /** What has become of the flushes. */
    private enum State {
        /** They go on, as far as is known. */
        GO_ON,
        /** They wait for the device, and the log counts them. */
        WAIT,
        CLOSED
    }

    private final Link link;
    private final FlushRepairs repairs;
    private final FlushLog told;

    // guarded by this
    private @Nullable FlushQueuePair current;
    private State state = State.GO_ON;

    /** Written by one thread while a repair is under way, and taken by the data path. */
    private volatile @Nullable Repair done;

    /** Of a queue pair that is ready. */
    FlushRepair(FlushQueuePair first, FlushRepairs repairs) {
        link = first.link();
        current = first;
        this.repairs = repairs;
        told = repairs.log(link);
    }

    /**
     * Has a control thread make another one. Data path; the former one must not be used any more.
     *
     * @param why the former one is of no use
     * @param addresses what is to be flushed
     * @return false if that is impossible
     */
    boolean begin(String why, long[] addresses) {
        return repairs.begin(
                () -> done = repair(why, addresses),
                e -> done = refused("no thread can be made for it (%s; see ulimit -u)".formatted(e)));
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

    /** A READ has succeeded after a repair. Data path. */
    void flushesGoOn() {
        // nobody hears of it if there is no thread
        var _ = repairs.begin(() -> become(State.GO_ON), e -> log.trace("{}: its flushes go on", link, e));
    }

    private Repair repair(String why, long[] addresses) {
        try {
            // not guarded: a driver that hangs must not hold up the end of the connection
            boolean isSettled = Arrays.stream(addresses).allMatch(this::settle);
            return new Repair(isSettled, reopen(why, isSettled));
        } catch (RuntimeException | Error e) {
            return refused(e.toString());
        }
    }

    private static Repair refused(String why) {
        return new Repair(false, new Outcome.Refused(why));
    }

    private boolean settle(long address) {
        try {
            return repairs.gpuWrites().settle(address);
        } catch (RuntimeException | Error e) {
            told.driverFailed(e);
            return false;
        }
    }

    private synchronized Outcome reopen(String why, boolean isSettled) {
        if (state == State.CLOSED) {
            return new Outcome.Impossible("the connection is closed");
        }
        if (isSettled) {
            told.flushedByDriver(why);
            become(State.GO_ON);
        }
        if (link.hasDeviceFailed()) {
            return new Outcome.Impossible(FlushDevice.DEVICE_HAS_FAILED);
        }
        if (!isSettled && state == State.GO_ON) {
            state = State.WAIT;
            told.beginWait(why);
        }
        return reopen();
    }

    private Outcome reopen() {
        try {
            closeCurrent();
            FlushQueuePair next = new FlushQueuePair(link, Flushes.MAX);
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

    /** Closed it stays. */
    private synchronized void become(State next) {
        State previous = state;
        if (previous == State.CLOSED) {
            return;
        }
        state = next;
        if (previous == State.WAIT && next == State.GO_ON) {
            told.endWait();
        } else if (previous == State.WAIT) {
            told.abandonWait();
        }
    }

    /** The queue pair is closed, whoever has made it; a repair that is under way makes none. May block. */
    @Override
    public synchronized void close() {
        become(State.CLOSED);
        closeCurrent();
    }
}
