package trigon.transport;

import java.lang.foreign.Arena;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import trigon.handshake.message.HandshakeException;
import trigon.nccl.NcclResult;
import trigon.nccl.NetPlugin;
import trigon.nccl.NoConnectionException;
import trigon.system.Memory;
import trigon.transport.testsupport.TestNode;
import trigon.verbs.VerbsException;

/**
 * One of two ranks of a communicator that is aborted: it connects to the other, accepts the other's connection, and
 * sends and receives over the two, until its own end comes, or until it has been told that the other is gone. Driven by
 * its node's thread, one call at a time, as NCCL's proxy does.
 */
final class AbortedRank {

    private static final int BUFFER_BYTES = 96 << 10;
    private static final int SLOTS = 4;
    private static final byte TAKEN_BACK = 0x3C;
    private static final long DEADLINE_NANOS = 90_000_000_000L;

    /** How long a listener waits for a peer that is gone, from which nothing may ever come. NCCL would ask for ever. */
    private static final long NOBODY_COMES_NANOS = 3_000_000_000L;

    /**
     * How it went, all in all.
     *
     * @param aborts ranks that aborted
     * @param beforeTraffic of them, those that had not both connections yet
     * @param told ranks that learned that their peer was gone
     * @param messages sent, or received as they were sent
     */
    record Outcome(AtomicInteger aborts, AtomicInteger beforeTraffic, AtomicInteger told, AtomicInteger messages) {
        Outcome() {
            this(new AtomicInteger(), new AtomicInteger(), new AtomicInteger(), new AtomicInteger());
        }

        @Override
        public String toString() {
            return ("%d ranks aborted, %d of them before both their connections were up, %d were told of their peer's"
                            + " end, %d messages")
                    .formatted(aborts.get(), beforeTraffic.get(), told.get(), messages.get());
        }
    }

    /** The event from which on a rank's steps count. */
    enum Since {
        START,
        /** Both its connections are up. */
        CONNECTED,
        /** A message has been moved, by this rank or another. */
        MESSAGE
    }

    /**
     * When a rank aborts.
     *
     * @param steps calls of {@link #step} until then; negative: never
     */
    record Moment(Since since, int steps) {

        /** It does not abort. */
        static final Moment NEVER = new Moment(Since.START, -1);
    }

    private record Request(long handle, PlannedMessage message, int slot) {}

    /** One direction: a comm and its requests. */
    private final class Half {
        final boolean sends;
        final Deque<Request> outstanding = new ArrayDeque<>();
        final Deque<Integer> free = new ArrayDeque<>();
        final long buffers = arena.allocate((long) SLOTS * BUFFER_BYTES, 64).address();
        long comm;
        long memory;
        long posted;

        @Nullable
        String failure;

        Half(boolean sends) {
            this.sends = sends;
            for (int slot = 0; slot < SLOTS; slot++) {
                free.add(slot);
            }
        }

        void connected(long handle) {
            comm = handle;
            memory = node.register(comm, buffers, (long) SLOTS * BUFFER_BYTES);
        }

        void step() {
            if (!free.isEmpty() && random.nextBoolean()) {
                post();
            }
            if (failure == null && !outstanding.isEmpty()) {
                ask();
            }
        }

        private void post() {
            PlannedMessage message = PlannedMessage.of(seed, sends ? number : peerNumber(), posted, BUFFER_BYTES / 2);
            int slot = free.element();
            long address = buffers + (long) slot * BUFFER_BYTES;
            if (sends) {
                message.write(address);
            }
            long request = sends
                    ? node.plugin.isend(comm, address, message.size(), message.tag(), memory)
                    : node.plugin.irecv(comm, address, message.size() + message.slack(), message.tag(), memory);
            if (request < 0) {
                fail(request);
            } else if (request != NetPlugin.TRY_AGAIN) {
                free.remove();
                posted++;
                outstanding.add(new Request(request, message, slot));
            }
        }

        private void ask() {
            Request oldest = outstanding.element();
            long result = node.plugin.test(oldest.handle());
            if (result == NetPlugin.NOT_DONE) {
                return;
            }
            if (result < 0) {
                fail(result);
                // each request has an answer of its own
                for (Request request : outstanding) {
                    long answer = node.plugin.test(request.handle());
                    if (answer == NetPlugin.NOT_DONE) {
                        throw new AssertionError(
                                "%s: one request has failed, and %s is not done".formatted(this, request));
                    }
                }
                return;
            }
            outstanding.remove();
            if (result != oldest.message().size()
                    || (!sends && !oldest.message().isAt(buffers + (long) oldest.slot() * BUFFER_BYTES))) {
                throw new AssertionError("%s: wrong, test returned %d".formatted(oldest.message(), result));
            }
            free.add(oldest.slot());
            outcome.messages().incrementAndGet();
        }

        private void fail(long result) {
            failure = "result " + result;
            if (result != -NcclResult.REMOTE_ERROR.code()) {
                throw new AssertionError(this + ": the peer's end must be a remote error");
            }
        }

        @Override
        public String toString() {
            return "%s (comm 0x%x, %d posted, outstanding %s, failure %s)"
                    .formatted(sends ? "sends" : "receives", comm, posted, outstanding, failure);
        }
    }

    private final TestNode node;
    private final Outcome outcome;
    private final int number;
    private final long seed;
    private final Random random;
    private final Arena arena = Arena.ofShared();
    private final Half sending = new Half(true);
    private final Half receiving = new Half(false);
    private final long ownHandle = arena.allocate(NetPlugin.HANDLE_BYTES).address();
    private final long peerHandle = arena.allocate(NetPlugin.HANDLE_BYTES).address();
    private final long context;
    private final long deadline = System.nanoTime() + DEADLINE_NANOS;
    private final Moment moment;
    private int steps;
    private @Nullable AbortedRank peer;
    private long listenComm;
    private boolean copied;
    private volatile boolean listens;
    private volatile boolean ending;
    private volatile long endedAt;

    /**
     * A rank in a communicator of its own.
     *
     * @param number even for one rank of a pair, the next one for the other
     * @param moment when it aborts
     */
    AbortedRank(TestNode node, Outcome outcome, long seed, int number, Moment moment) {
        this.node = node;
        this.outcome = outcome;
        this.seed = seed;
        this.number = number;
        this.moment = moment;
        random = new Random(seed * 31 + number);
        context = node.plugin.openContext(number, NetPlugin.TRAFFIC_CLASS_UNDEFINED);
    }

    void meet(AbortedRank other) {
        peer = other;
    }

    private int peerNumber() {
        return number ^ 1;
    }

    private boolean isCounting() {
        return switch (moment.since) {
            case START -> true;
            case CONNECTED -> sending.comm != 0 && receiving.comm != 0;
            case MESSAGE -> outcome.messages().get() > 0;
        };
    }

    /** Does one thing. Returns false when it is over. */
    boolean step() {
        if (System.nanoTime() - deadline > 0) {
            throw new AssertionError("hangs: " + this);
        }
        if (isCounting()) {
            steps++;
        }
        if (steps == moment.steps) {
            outcome.aborts().incrementAndGet();
            if (sending.comm == 0 || receiving.comm == 0) {
                outcome.beforeTraffic().incrementAndGet();
            }
            end();
            return false;
        }
        if (listenComm == 0) {
            listenComm = node.plugin.listen(context, 0, ownHandle);
            listens = true;
            return true;
        }
        AbortedRank other = Objects.requireNonNull(peer);
        connect(other);
        accept(other);
        for (Half half : List.of(sending, receiving)) {
            if (half.comm != 0 && half.failure == null) {
                half.step();
            }
        }
        if (sending.failure != null && receiving.failure != null) {
            if (!other.ending) {
                throw new AssertionError("the peer lives, yet: " + this);
            }
            outcome.told().incrementAndGet();
            end();
            return false;
        }
        return true;
    }

    private void connect(AbortedRank other) {
        if (sending.comm != 0 || sending.failure != null) {
            return;
        }
        if (!copied) {
            if (other.listens) {
                Memory.copy(other.ownHandle, peerHandle, NetPlugin.HANDLE_BYTES);
                copied = true;
            } else if (other.endedAt != 0) {
                sending.failure = "the peer never listened";
            }
            return;
        }
        try {
            long comm = node.plugin.connect(context, 0, peerHandle, NetPlugin.TRAFFIC_CLASS_UNDEFINED);
            if (comm != 0) {
                sending.connected(comm);
            }
        } catch (NoConnectionException | HandshakeException | VerbsException e) {
            sending.failure = e.toString();
        }
    }

    private void accept(AbortedRank other) {
        if (receiving.comm != 0 || receiving.failure != null) {
            return;
        }
        long comm;
        try {
            comm = node.plugin.accept(listenComm);
        } catch (NoConnectionException e) {
            receiving.failure = e.toString(); // who connects says so when it gives up
            return;
        }
        if (comm != 0) {
            receiving.connected(comm);
        } else if (other.endedAt != 0 && System.nanoTime() - other.endedAt > NOBODY_COMES_NANOS) {
            receiving.failure = "nobody came";
        }
    }

    /**
     * As NCCL may end it: everything closed in any order, memory deregistered before or not, or nothing closed at all;
     * the context goes last. Its memory is its own again from then on.
     */
    private void end() {
        ending = true;
        List<Runnable> closes = new ArrayList<>();
        if (random.nextInt(4) > 0) {
            for (Half half : List.of(sending, receiving)) {
                if (half.comm != 0) {
                    closes.add(() -> node.plugin.deregisterMemory(half.comm, half.memory));
                }
            }
            closes.add(() -> node.plugin.closeSend(sending.comm));
            closes.add(() -> node.plugin.closeReceive(receiving.comm));
            closes.add(() -> node.plugin.closeListen(listenComm));
            Collections.shuffle(closes, random);
            closes.subList(0, random.nextInt(4) == 0 ? random.nextInt(closes.size()) : 0)
                    .clear();
        }
        closes.forEach(Runnable::run);
        node.plugin.closeContext(context);
        for (Half half : List.of(sending, receiving)) {
            Memory.fill(half.buffers, (long) SLOTS * BUFFER_BYTES, TAKEN_BACK);
        }
        endedAt = System.nanoTime();
    }

    /** Both ranks have ended: nobody may have touched the memory since. */
    void checkAndFree() {
        for (Half half : List.of(sending, receiving)) {
            var memory = Memory.segment(half.buffers, (long) SLOTS * BUFFER_BYTES);
            long alike = memory.asSlice(1).mismatch(memory.asSlice(0, memory.byteSize() - 1));
            if (alike != -1 || Memory.getByte(half.buffers) != TAKEN_BACK) {
                throw new AssertionError(
                        "memory was written at offset %d after its comm was closed: %s".formatted(alike, this));
            }
        }
        arena.close();
    }

    @Override
    public String toString() {
        return "rank %d of seed %d: %s, %s, step %d, %s, peer ended %s"
                .formatted(number, seed, sending, receiving, steps, moment, peer != null && peer.endedAt != 0);
    }
}
