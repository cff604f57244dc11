package trigon.relay;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import trigon.stream.RefusalCause;
import trigon.stream.SocketStream;
import trigon.stream.hop.HopDevices;
import trigon.stream.loop.Acceptor;
import trigon.stream.loop.EventLoop;
import trigon.system.NanoClock;
import trigon.system.RareMessage;

/** The circuits of a relay: their number, memory, deadlines and rate. The event loop's thread alone. */
final class Circuits implements Circuit.Host, Acceptor.Owner, EventLoop.Watched {

    private static final Logger log = LoggerFactory.getLogger(Relay.class);

    /** From one look at the deadlines to the next. */
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    /** The pause while sent chunks are on their way for longer than it spins. */
    private static final long SENDING_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private static final long MIN_SPIN_NANOS = TimeUnit.MICROSECONDS.toNanos(50);

    private final EventLoop loop;
    private final Admission admission;
    private final RelayLimits limits;
    private final HopDevices hops;
    private final NanoClock clock;
    private final RelayCounts counts = new RelayCounts();
    private final Slots slots;
    private final SecureRandom random = new SecureRandom();

    /** Not admitted yet, the oldest first. */
    private final Set<Circuit> strangers = new LinkedHashSet<>();

    /** Admitted, and not spliced yet. */
    private final Set<Circuit> beginning = new LinkedHashSet<>();

    private final Set<Circuit> spliced = new LinkedHashSet<>();

    /** Spliced circuits that are polled, since no selector tells of their bytes. */
    private final List<Circuit> awake = new ArrayList<>();

    private final StillCircuits still;
    private final Allowance allowance;
    private final RareMessage refusals;
    private final RareMessage failures;
    private long lastMove; // of the data path
    private long lastLook;
    private boolean owes;

    Circuits(
            EventLoop loop,
            Admission admission,
            RelayLimits limits,
            HopDevices hops,
            StillCircuits.Table table,
            NanoClock clock) {
        this.loop = loop;
        this.admission = admission;
        this.limits = limits;
        this.hops = hops;
        this.clock = clock;
        lastLook = clock.nanoTime();
        lastMove = lastLook;
        still = new StillCircuits(table, lastLook);
        slots = new Slots(2 * limits.circuits());
        allowance = new Allowance(limits.bytesPerSecond());
        refusals = new RareMessage(log, Level.WARN, clock);
        failures = new RareMessage(log, Level.WARN, clock);
    }

    /** Counts of what it has done; any thread. */
    RelayCounts counts() {
        return counts;
    }

    // ---- time

    @Override
    public long look() {
        long spin = spinNanos();
        for (int i = awake.size() - 1; i >= 0 && !owes; i--) {
            Circuit circuit = awake.get(i);
            if (circuit.pollOrSleep(spin)) {
                awake.remove(circuit); // unless it has ended, and so taken itself out
            }
        }
        long now = clock.nanoTime();
        if (now - lastLook >= LOOK_NANOS) {
            lastLook = now;
            expire(strangers, now);
            expire(beginning, now);
            still.look(List.copyOf(spliced), now);
        }
        owes = waitForAllowance();
        if (owes) {
            return 0;
        }
        if (clock.nanoTime() - lastMove < spinNanos()) {
            Thread.onSpinWait();
            return 0;
        }
        return nanosToSleep();
    }

    /** Longer where there is something to poll: to sleep and to be woken takes a word by TCP each. */
    private long spinNanos() {
        long nanos = limits.spin().toNanos();
        return awake.isEmpty() ? nanos : Math.max(MIN_SPIN_NANOS, nanos);
    }

    private long nanosToSleep() {
        if (!awake.isEmpty()) {
            return SENDING_NANOS;
        }
        if (!strangers.isEmpty() || !beginning.isEmpty()) {
            return LOOK_NANOS;
        }
        return spliced.isEmpty() ? Long.MAX_VALUE : StillCircuits.LOOK_NANOS;
    }

    /**
     * Waits for a part of the time that the rate asks for, so that deadlines and new connections are looked at
     * meanwhile.
     *
     * @return true while nothing may be passed on
     */
    private boolean waitForAllowance() {
        long nanos = allowance.owedNanos();
        if (nanos == 0) {
            return false;
        }
        long before = clock.nanoTime();
        LockSupport.parkNanos(Math.min(nanos, LOOK_NANOS));
        allowance.waited(clock.nanoTime() - before);
        return allowance.owedNanos() > 0;
    }

    private static void expire(Set<Circuit> those, long now) {
        if (!those.isEmpty()) {
            for (Circuit circuit : new ArrayList<>(those)) {
                if (now - circuit.deadline() >= 0) {
                    circuit.expire();
                }
            }
        }
    }

    // ---- new connections

    @Override
    public void onAccepted(SocketChannel channel) {
        Circuit circuit;
        try {
            long deadline = clock.nanoTime() + limits.requestTime().toNanos();
            circuit = new Circuit(channel, loop, admission, this, random, deadline);
        } catch (IOException | OutOfMemoryError e) {
            log.debug("{} was gone when it was accepted, or there is no memory for it: {}", channel, e.toString());
            new SocketStream(channel).close();
            return;
        }
        strangers.add(circuit);
        Circuit oneTooMany = oneTooMany(circuit);
        if (oneTooMany != null) {
            oneTooMany.refuse(RefusalCause.FULL, "too many connections sent no request");
        }
        count();
    }

    @Override
    public void onAcceptFailed(Throwable cause) {
        failures.log("the relay cannot take a connection: " + cause);
    }

    /** The oldest of an address with too many; else, of too many, the oldest of all. */
    private @Nullable Circuit oneTooMany(Circuit newest) {
        List<Circuit> ofAddress = strangers.stream()
                .filter(other -> other.peer().equals(newest.peer()))
                .toList();
        if (ofAddress.size() > limits.strangersOfOneAddress()) {
            return ofAddress.getFirst();
        }
        return strangers.size() > limits.strangers() ? strangers.iterator().next() : null;
    }

    // ---- for the circuits

    private void count() {
        counts.taken(beginning.size() + spliced.size(), strangers.size(), slots.bytes());
    }

    @Override
    public boolean admit(Circuit circuit) {
        if (beginning.size() + spliced.size() >= limits.circuits()) {
            return false;
        }
        strangers.remove(circuit);
        beginning.add(circuit);
        count();
        return true;
    }

    @Override
    public ByteBuffer slot() {
        return slots.take();
    }

    @Override
    public void spliced(Circuit circuit) {
        beginning.remove(circuit);
        spliced.add(circuit);
        counts.openedOne();
        count();
    }

    @Override
    public void awake(Circuit circuit) {
        lastMove = clock.nanoTime(); // what it was woken for may come behind the word
        if (!awake.contains(circuit)) {
            awake.add(circuit);
        }
    }

    @Override
    public boolean owes() {
        return owes;
    }

    @Override
    public void moved(int bytes) {
        if (bytes > 0) {
            lastMove = clock.nanoTime();
            allowance.spent(bytes);
            counts.moved(bytes);
        }
    }

    @Override
    public void ended(Circuit circuit, List<ByteBuffer> taken) {
        strangers.remove(circuit);
        beginning.remove(circuit);
        spliced.remove(circuit);
        awake.remove(circuit);
        taken.forEach(slots::give);
        count();
    }

    @Override
    public void refused(String why) {
        counts.refusedOne();
        refusals.log(why);
    }

    @Override
    public void failed(Throwable cause) {
        failures.log("the relay ends a circuit: " + cause);
    }

    @Override
    public HopDevices hops() {
        return hops;
    }

    @Override
    public long nanoTime() {
        return clock.nanoTime();
    }

    @Override
    public long connectDeadline() {
        return nanoTime() + limits.connectTime().toNanos();
    }

    @Override
    public void onEnd() {
        List<Circuit> all = new ArrayList<>(strangers);
        all.addAll(beginning);
        all.addAll(spliced);
        all.forEach(Circuit::close);
    }
}
