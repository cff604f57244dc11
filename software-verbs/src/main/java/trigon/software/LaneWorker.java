package trigon.software;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A thread that moves the pieces of long messages, in both directions, on the lanes dealt to it; when there is nothing to
 * do on those, it sends for a worker that is busy with another lane. It works in turns; who takes lanes or memory away from
 * it does so between two of them. Allocates nothing in the steady state.
 */
final class LaneWorker implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(LaneWorker.class);
    private static final long JOIN_MILLIS = 5000;

    /** Fits the cache of a core. */
    private static final int BUFFER_BYTES = 256 << 10;

    private final String name;
    private final long pollNanos;
    private final LaneWorkers workers;
    /** Held during a turn. Fair, since the next turn follows at once. */
    private final ReentrantLock turn = new ReentrantLock(true);

    private final Selector selector;
    private final Thread thread;
    private final Consumer<SelectionKey> onReady = this::onReady;

    // changed and used during turns
    private final ByteBuffer receiveBuffer = Buffers.allocate(BUFFER_BYTES);
    private final ByteBuffer anything = Buffers.allocate(1);
    private final List<IncomingLane> incoming = new ArrayList<>();
    private final List<IncomingLane> stalled = new ArrayList<>();
    private final List<SoftwareQueuePair> concerned = new ArrayList<>();
    private boolean moved;
    /** The place, among all workers, of the one that it has helped last. */
    private int helped;

    private final PaddedIndex timesHelped = new PaddedIndex();

    /** Changed during turns, replaced with every change; used by those that help, too. */
    private volatile OutgoingLane[] outgoing = new OutgoingLane[0];

    private volatile int incomingLanes;
    /** It moves data on a lane now, and its other lanes have to wait. */
    private volatile boolean busy;

    private volatile boolean failed;
    /** It takes no lanes any more. */
    private volatile boolean ended;

    private volatile boolean asleep;
    private volatile boolean closed;

    /**
     * Starts a worker.
     *
     * @param pollNanos how long it looks for work before it blocks
     * @param workers all of them, whom it helps
     */
    LaneWorker(String name, long pollNanos, LaneWorkers workers) throws IOException {
        this.name = name;
        this.pollNanos = pollNanos;
        this.workers = workers;
        selector = Selector.open();
        thread = new Thread(this::run, name);
        thread.setDaemon(true);
    }

    /** Starts its thread; without memory for one it is closed. */
    void start() throws IOException {
        try {
            thread.start();
        } catch (OutOfMemoryError e) {
            selector.close();
            throw e;
        }
    }

    // ---- any thread

    /** Where its lanes receive, one after the other; used during turns. */
    ByteBuffer receiveBuffer() {
        return receiveBuffer;
    }

    /** Begins to send on a lane. */
    void add(OutgoingLane lane) throws IOException {
        register(lane.channel(), SelectionKey.OP_READ, lane);
        between(() -> {
            OutgoingLane[] more = Arrays.copyOf(outgoing, outgoing.length + 1);
            more[outgoing.length] = lane;
            outgoing = ended ? outgoing : more;
        });
        requireGoingOn();
    }

    /** Begins to receive on a lane. */
    void add(IncomingLane lane) throws IOException {
        register(lane.channel(), SelectionKey.OP_READ, lane);
        between(() -> {
            if (!ended) {
                incoming.add(lane);
                incomingLanes = incoming.size();
            }
        });
        requireGoingOn();
    }

    private void requireGoingOn() throws ClosedChannelException {
        if (ended) {
            throw new ClosedChannelException();
        }
    }

    private void register(SocketChannel channel, int interest, Object lane) throws IOException {
        try {
            channel.register(selector, interest, lane);
            selector.wakeup();
        } catch (ClosedSelectorException _) {
            throw new ClosedChannelException();
        }
    }

    /** Sends no more on a lane, and closes it. */
    void remove(OutgoingLane lane) {
        lane.retire(); // first, since this needs no memory
        between(() ->
                outgoing = Arrays.stream(outgoing).filter(each -> each != lane).toArray(OutgoingLane[]::new));
        StreamReader.closeQuietly(lane.channel());
        selector.wakeup(); // lets go of the socket
    }

    /** Receives no more on a lane, and closes it. */
    void remove(IncomingLane lane) {
        between(() -> {
            lane.end("the queue pair is done with it");
            stalled.remove(lane);
            incoming.remove(lane);
            incomingLanes = incoming.size();
        });
        selector.wakeup(); // lets go of the socket
    }

    /** Whether it has ended although it was not closed. */
    boolean hasFailed() {
        return failed;
    }

    /** How many lanes it has that go one way. */
    int lanes(LaneWorkers.Direction direction) {
        return switch (direction) {
            case OUTGOING -> outgoing.length;
            case INCOMING -> incomingLanes;
        };
    }

    /** How many lanes it has. */
    int lanes() {
        return outgoing.length + incomingLanes;
    }

    /** How often it has sent something for another; for tests. */
    long timesHelped() {
        return timesHelped.getAcquire();
    }

    /** Runs an action between two turns. */
    void between(Runnable action) {
        turn.lock();
        try {
            action.run();
        } finally {
            turn.unlock();
        }
    }

    /** Runs an action between two turns, as if it moved data on a lane, so that others send on its lanes; for tests. */
    void busyWith(Runnable action) {
        between(() -> {
            busy = true;
            try {
                action.run();
            } finally {
                busy = false;
            }
        });
    }

    /** There is something to be sent on a lane. Data path: costs nothing while the worker is awake. */
    void wake() {
        if (asleep) {
            asleep = false;
            selector.wakeup();
        }
    }

    // ---- its thread

    /** Has a queue pair look at what has become of its messages, after this turn. */
    void tell(SoftwareQueuePair queuePair) {
        if (concerned.isEmpty() || concerned.getLast() != queuePair) {
            concerned.add(queuePair);
        }
    }

    /** A lane waits for a receive to be posted, during a turn. */
    void stalled(IncomingLane lane) {
        stalled.add(lane);
    }

    @SuppressWarnings("ThreadPriorityCheck") // yielding is a courtesy here, nothing relies on it
    private void run() {
        long activeAt = System.nanoTime();
        try (selector) {
            try {
                while (!closed) {
                    if (takeTurn()) {
                        activeAt = System.nanoTime();
                    } else if (System.nanoTime() - activeAt < pollNanos) {
                        Thread.yield(); // to whoever has no core of its own
                    } else {
                        sleep();
                    }
                }
            } finally {
                between(this::closeLanes);
            }
        } catch (IOException | RuntimeException | VirtualMachineError e) {
            log.error("{} ends: the queue pairs that have lanes on it fail", name, e);
            between(this::breakLanes);
            tellConcerned();
        }
    }

    /** Peers are to see that this end is gone. */
    private void closeLanes() {
        ended = true;
        busy = false;
        for (SelectionKey key : selector.keys()) {
            if (key.attachment() instanceof IncomingLane lane) {
                lane.end("its worker has ended");
            } else if (key.attachment() instanceof OutgoingLane lane) {
                lane.retire();
                StreamReader.closeQuietly(lane.channel());
            }
        }
    }

    private void breakLanes() {
        failed = true;
        for (OutgoingLane lane : outgoing) {
            lane.breakOff(this);
        }
        for (IncomingLane lane : incoming) {
            lane.fail("its worker has failed");
        }
    }

    private boolean takeTurn() throws IOException {
        turn.lock();
        try {
            moved = false;
            for (OutgoingLane lane : outgoing) {
                moved |= send(lane);
            }
            goOnStalled();
            selector.selectNow(onReady);
            if (!moved) {
                help();
            }
        } finally {
            turn.unlock();
        }
        tellConcerned();
        return moved;
    }

    /** Not during a turn: who holds a queue pair's lock may wait for its end. */
    private void tellConcerned() {
        for (int i = 0; i < concerned.size(); i++) {
            concerned.get(i).onPieces();
        }
        concerned.clear();
    }

    private void goOnStalled() {
        for (int i = stalled.size() - 1; i >= 0; i--) {
            IncomingLane lane = stalled.get(i);
            if (lane.goOn()) {
                stalled.remove(i);
                receive(lane);
                setInterest(lane.channel(), SelectionKey.OP_READ);
            }
        }
    }

    private void onReady(SelectionKey key) {
        if (key.attachment() instanceof IncomingLane lane) {
            receive(lane);
        } else if (key.attachment() instanceof OutgoingLane lane && isToBeHeard(key)) {
            lane.hear(this, anything.clear());
        }
    }

    /** Whether there is something to be read; only once, until the worker has slept. */
    private static boolean isToBeHeard(SelectionKey key) {
        try {
            boolean readable = key.isReadable();
            if (readable) {
                key.interestOps(0);
            }
            return readable;
        } catch (CancelledKeyException _) {
            return false; // the lane is being closed
        }
    }

    /** Sends on one of its own lanes. */
    private boolean send(OutgoingLane lane) {
        if (!lane.hasWork() || !lane.take()) {
            return false;
        }
        try {
            return sendTaken(lane);
        } finally {
            lane.release();
        }
    }

    /** So who has taken a lane, and sees that its worker is busy, knows that it is busy with another one. */
    private boolean sendTaken(OutgoingLane lane) {
        busy = true;
        try {
            return lane.send(this);
        } finally {
            busy = false;
        }
    }

    private void receive(IncomingLane lane) {
        busy = true;
        try {
            moved |= lane.receive();
            lane.tellEnd();
        } catch (RuntimeException | VirtualMachineError e) {
            log.warn("A lane ends, for lack of memory or by a defect of the software device", e);
            lane.fail(e.toString());
        }
        busy = false;
    }

    /**
     * Sends on a lane of a worker that is busy with another. Not for one that is not: it would be in that one's way, and
     * behind with its own lanes.
     */
    private void help() {
        LaneWorker[] all = workers.started();
        for (int i = 0; i < all.length && !moved; i++) {
            int place = (helped + i) % all.length;
            LaneWorker other = all[place];
            if (other != this && other.busy && sendFor(other)) {
                moved = true;
                helped = place;
                timesHelped.setRelease(timesHelped.get() + 1);
            }
        }
    }

    private boolean sendFor(LaneWorker other) {
        for (OutgoingLane lane : other.outgoing) {
            // whether a socket that was full has room again, its own worker finds out
            if (!lane.isFull() && lane.hasWork() && lane.take()) {
                try {
                    if (other.busy && sendTaken(lane)) {
                        return true;
                    }
                } finally {
                    lane.release();
                }
            }
        }
        return false;
    }

    @SuppressWarnings("ThreadPriorityCheck") // as above
    private void sleep() throws IOException {
        asleep = true;
        boolean hasWork = false;
        turn.lock();
        try {
            for (OutgoingLane lane : outgoing) {
                // it waits for the socket, or it is something that came just now
                hasWork |= lane.hasWork() && !lane.isFull();
                setInterest(lane.channel(), lane.interest());
            }
            for (IncomingLane lane : stalled) {
                // what is to be read must not wake it before the receive is there
                setInterest(lane.channel(), 0);
                hasWork |= lane.canGoOn();
            }
        } finally {
            turn.unlock();
        }
        if (hasWork) {
            Thread.yield(); // to who has taken the lane
        } else if (!closed) {
            selector.select(key -> {}); // data are looked for in the next turn
        }
        asleep = false;
    }

    private void setInterest(SocketChannel channel, int interest) {
        SelectionKey key = channel.keyFor(selector);
        if (key != null && key.isValid()) {
            key.interestOps(interest);
        }
    }

    /** Ends the thread and closes its lanes. */
    @Override
    public void close() {
        closed = true;
        selector.wakeup();
        try {
            thread.join(JOIN_MILLIS);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }
}
