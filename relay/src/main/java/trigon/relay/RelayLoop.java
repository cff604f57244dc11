package trigon.relay;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import trigon.stream.hop.HopDevices;
import trigon.system.NanoClock;
import trigon.system.RareMessage;
import trigon.system.kernel.UnansweredConnections;
import trigon.system.kernel.UnansweredConnections.Ends;

/** What the relay's thread does: it takes what is ready in turn, a slot of each, and looks at the deadlines. */
final class RelayLoop implements Circuit.Host {

    private static final Logger log = LoggerFactory.getLogger(Relay.class);
    private static final long LOOK_MILLIS = 100;

    private static final long STILL_MILLIS = TimeUnit.NANOSECONDS.toMillis(StillCircuits.LOOK_NANOS);

    /** How soon it looks again whether what was sent has arrived, if that takes longer than it spins. */
    private static final long SENDING_MILLIS = 1;

    private static final long MIN_SPIN_NANOS = TimeUnit.MICROSECONDS.toNanos(50);

    /** After a failure, for lack of file descriptors for example: trying again at once would be trying without end. */
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final Selector selector;
    private final Admission admission;
    private final RelayLimits limits;
    private final RelayCounts counts = new RelayCounts();
    private final Kernel kernel;
    private final Slots slots;
    private final SecureRandom random = new SecureRandom();
    private final Consumer<SelectionKey> onReady = this::onReady;

    /** Not admitted yet, the oldest first. */
    private final Set<Circuit> strangers = new LinkedHashSet<>();

    /** Admitted, and not spliced yet. */
    private final Set<Circuit> beginning = new LinkedHashSet<>();

    private final Set<Circuit> spliced = new LinkedHashSet<>();

    /** Of these, those that are polled since no selector tells of their bytes. */
    private final List<Circuit> awake = new ArrayList<>();

    private final HopDevices hops;

    private final NanoClock clock;
    private long lastMove; // of the data path
    private long lastLook;
    private final StillCircuits still;
    private final RareMessage refusals;
    private final RareMessage failures;
    private final List<SelectionKey> resting = new ArrayList<>(); // listeners that could not accept
    private long restingUntil;
    private final Allowance allowance;
    private boolean owes;
    private volatile boolean closed;

    /** The kernel, as far as a test may stand in for it. */
    interface Kernel extends StillCircuits.Table {

        /** Takes a connection from a listener that has one; null if it is gone. */
        @Nullable
        SocketChannel accept(ServerSocketChannel listener) throws IOException;

        @Override
        default Set<Ends> unanswered(int retransmits) throws IOException {
            return UnansweredConnections.read(retransmits);
        }
    }

    RelayLoop(
            Selector selector,
            Admission admission,
            RelayLimits limits,
            HopDevices hops,
            Kernel kernel,
            NanoClock clock) {
        this.selector = selector;
        this.hops = hops;
        this.admission = admission;
        this.limits = limits;
        this.kernel = kernel;
        this.clock = clock;
        lastLook = clock.nanoTime();
        lastMove = lastLook;
        still = new StillCircuits(kernel, lastLook);
        refusals = new RareMessage(log, Level.WARN, clock);
        failures = new RareMessage(log, Level.WARN, clock);
        slots = new Slots(2 * limits.circuits());
        allowance = new Allowance(limits.bytesPerSecond());
    }

    /** What it has done; any thread. */
    RelayCounts counts() {
        return counts;
    }

    @Override
    public HopDevices hops() {
        return hops;
    }

    /** Ends {@link #run}; any thread. */
    void close() {
        closed = true;
        selector.wakeup();
    }

    void run() {
        try {
            while (!closed) {
                iterate();
            }
        } catch (IOException | RuntimeException | VirtualMachineError e) {
            log.error("the relay has stopped: other nodes can no longer relay through this node", e);
        } finally {
            end();
        }
    }

    void iterate() throws IOException {
        owes = owesAfterAWait();
        if (owes) {
            selector.selectNow(onReady);
        } else if (clock.nanoTime() - lastMove < spinNanos()) {
            selector.selectNow(onReady);
            Thread.onSpinWait();
        } else {
            boolean looks = !strangers.isEmpty() || !beginning.isEmpty() || !resting.isEmpty();
            long idle = spliced.isEmpty() ? 0 : STILL_MILLIS;
            long atMost = awake.isEmpty() ? (looks ? LOOK_MILLIS : idle) : SENDING_MILLIS;
            selector.select(onReady, atMost);
        }
        pollAwake();
        long now = clock.nanoTime();
        if (now - lastLook >= TimeUnit.MILLISECONDS.toNanos(LOOK_MILLIS)) {
            lastLook = now;
            expire(strangers, now);
            expire(beginning, now);
            acceptAgain(now);
            still.look(List.copyOf(spliced), now);
        }
    }

    /** Longer where there is something to poll: to sleep and to be woken takes a word by TCP each. */
    private long spinNanos() {
        return awake.isEmpty()
                ? limits.spin().toNanos()
                : Math.max(MIN_SPIN_NANOS, limits.spin().toNanos());
    }

    private void pollAwake() {
        long nanos = spinNanos();
        for (int i = awake.size() - 1; i >= 0 && !owes; i--) {
            Circuit circuit = awake.get(i);
            if (isResting(circuit, nanos)) {
                awake.remove(circuit); // unless it has ended, and so taken itself out
            }
        }
    }

    private boolean isResting(Circuit circuit, long nanos) {
        try {
            return circuit.poll() == 0 && circuit.hasRested(nanos);
        } catch (RuntimeException | OutOfMemoryError e) { // one circuit less is no reason to leave all others alone
            failures.log("the relay ends a circuit: " + e);
            circuit.close();
            return true;
        }
    }

    /**
     * What was passed on too much, with a limit, is waited for: some time now, so that deadlines are looked at and
     * connections taken meanwhile, and the rest later.
     */
    private boolean owesAfterAWait() {
        long nanos = allowance.owedNanos();
        if (nanos == 0) {
            return false;
        }
        long before = clock.nanoTime();
        LockSupport.parkNanos(Math.min(nanos, PAUSE_NANOS));
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

    private void onReady(SelectionKey key) {
        try {
            if (key.attachment() instanceof Circuit circuit) {
                if (!owes || !circuit.isSpliced()) { // else it is ready still when all is paid
                    circuit.onReady(key);
                }
            } else if (key.channel() instanceof ServerSocketChannel listener) {
                accept(listener);
            }
        } catch (IOException | RuntimeException | OutOfMemoryError e) {
            failures.log("the relay cannot take a connection: " + e);
            if (key.attachment() instanceof Circuit circuit) {
                circuit.close();
            } else {
                rest(key);
            }
        }
    }

    /** The listener's turn comes again later; what is open goes on meanwhile. */
    private void rest(SelectionKey listener) {
        listener.interestOps(0);
        resting.add(listener);
        restingUntil = clock.nanoTime() + PAUSE_NANOS;
    }

    private void acceptAgain(long now) {
        if (!resting.isEmpty() && now - restingUntil >= 0) {
            resting.forEach(listener -> listener.interestOps(SelectionKey.OP_ACCEPT));
            resting.clear();
        }
    }

    private void accept(ServerSocketChannel listener) throws IOException {
        SocketChannel channel = kernel.accept(listener);
        if (channel == null) {
            return;
        }
        Circuit circuit;
        try {
            long deadline = clock.nanoTime() + limits.requestTime().toNanos();
            circuit = new Circuit(channel, selector, admission, this, random, deadline);
        } catch (IOException e) {
            channel.close(); // gone again
            return;
        }
        strangers.add(circuit);
        Circuit oneTooMany = oneTooMany(circuit);
        if (oneTooMany != null) {
            oneTooMany.refuse("too many connections sent no request");
        }
        count();
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
    public long nanoTime() {
        return clock.nanoTime();
    }

    @Override
    public long connectDeadline() {
        return nanoTime() + limits.connectTime().toNanos();
    }

    /** Closes all that is open, if anything is; once nothing runs it. */
    void end() {
        if (!selector.isOpen()) {
            return;
        }
        List<Circuit> all = new ArrayList<>(strangers);
        all.addAll(beginning);
        all.addAll(spliced);
        all.forEach(Circuit::close);
        try {
            for (SelectionKey key : selector.keys()) {
                key.channel().close();
            }
            selector.close(); // lets go of the sockets
        } catch (IOException e) {
            log.debug("the relay's sockets cannot be closed", e);
        }
    }
}
