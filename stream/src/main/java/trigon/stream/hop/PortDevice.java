package trigon.stream.hop;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import trigon.system.NanoClock;
import trigon.verbs.VerbsException;

/**
 * The device of a port. It is opened for the first hop, and anew after it has failed: a device that was reset works
 * only for those who open it again. Thread-safe; blocks while the device is opened.
 */
final class PortDevice implements AutoCloseable {

    /** Time from one opening to the next, at least; it doubles with each failure in succession. */
    static final Duration MIN_WAIT = Duration.ofSeconds(1);

    static final Duration MAX_WAIT = Duration.ofSeconds(60);

    private sealed interface State {

        /** Not open; an opening is tried from that time on. */
        record Shut(long from) implements State {}

        record Open(HopDevice device) implements State {}

        record Closed() implements State {}
    }

    private final HopPort port;
    private final SlotMemory memory;
    private final NanoClock clock;
    private final List<HopDevice> retired = new ArrayList<>(); // those that have queue pairs still
    private State state;
    private long openedAt;
    private Duration wait = MIN_WAIT;

    /** A device that is not open yet. */
    PortDevice(HopPort port, SlotMemory memory, NanoClock clock) {
        this.port = port;
        this.memory = memory;
        this.clock = clock;
        state = new State.Shut(clock.nanoTime());
    }

    HopPort port() {
        return port;
    }

    /**
     * The open device; empty if it has failed and is not tried again yet.
     *
     * @throws VerbsException if it cannot be opened
     */
    synchronized Optional<HopDevice> device() {
        return switch (state) {
            case State.Open(HopDevice device) -> Optional.of(device);
            case State.Shut(long from) -> clock.nanoTime() - from < 0 ? Optional.empty() : Optional.of(open());
            case State.Closed() -> Optional.empty();
        };
    }

    private HopDevice open() {
        openedAt = clock.nanoTime();
        try {
            HopDevice opened = HopDevice.open(port, memory);
            state = new State.Open(opened);
            return opened;
        } catch (VerbsException e) {
            shut();
            throw e;
        }
    }

    private void shut() {
        state = new State.Shut(openedAt + wait.toNanos());
        wait = wait.multipliedBy(2).compareTo(MAX_WAIT) < 0 ? wait.multipliedBy(2) : MAX_WAIT;
    }

    /** Takes note that a queue pair could be opened on it. */
    synchronized void succeed() {
        wait = MIN_WAIT;
    }

    /** Retires a device that refuses what a sound one does. Its queue pairs are left to their hops. */
    synchronized void fail(HopDevice failed) {
        if (state instanceof State.Open(HopDevice device) && device == failed) {
            shut();
            failed.retire();
            retired.removeIf(HopDevice::isClosed);
            retired.add(failed);
        }
    }

    /** Closes the device, and what is left open on it and on former ones. Twice is allowed. */
    @Override
    public synchronized void close() {
        if (state instanceof State.Open(HopDevice device)) {
            device.close();
        }
        state = new State.Closed();
        retired.forEach(HopDevice::close);
        retired.clear();
    }
}
