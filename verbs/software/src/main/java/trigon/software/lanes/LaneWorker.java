package trigon.software.lanes;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.SelectionKey;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.software.connection.EventLoop;
import trigon.software.connection.LocalQueuePair;
import trigon.software.memory.Buffers;

/**
 * A thread that moves the pieces of long messages, in both directions, on the lanes assigned to it; when there is
 * nothing to do on those, it sends for a worker that is busy with another lane. It works in iterations; who takes lanes
 * or memory away from it does so between two of them. Allocates nothing in the steady state.
 */
final class LaneWorker implements LaneHost, AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(LaneWorker.class);

    private final String name;
    private final long pollNanos;
    private final LaneWorkers workers;
    private final WorkerLanes lanes;
    private final Thread thread;
    private final Consumer<SelectionKey> onReady = this::onReady;
    private final Consumer<IncomingLane> receive = this::receive;

    // changed and used during iterations
    private final ByteBuffer receiveBuffer = Buffers.allocate(OutgoingLane.MAX_WRITE_BYTES);
    private final ByteBuffer anything = Buffers.allocate(1);
    /** Queue pairs to be told after this iteration what has become of their messages. */
    private final List<LocalQueuePair> concerned = new ArrayList<>();

    private boolean moved;
    /** The place, among all workers, of the one that it has helped last. */
    private int helped;

    /** It moves data on a lane now, and its other lanes have to wait. */
    private volatile boolean busy;

    private volatile boolean failed;
    private volatile boolean asleep;
    private volatile boolean closed;

    /**
     * A worker that is still to be started.
     *
     * @param pollNanos how long it looks for work before it blocks
     * @param workers all of them, whom it helps
     */
    LaneWorker(String name, long pollNanos, LaneWorkers workers) throws IOException {
        this.name = name;
        this.pollNanos = pollNanos;
        this.workers = workers;
        lanes = new WorkerLanes();
        thread = new Thread(this::run, name);
        thread.setDaemon(true);
    }

    /** Starts its thread; without memory for one it is closed. */
    void start() throws IOException {
        try {
            thread.start();
        } catch (OutOfMemoryError e) {
            lanes.close();
            throw e;
        }
    }

    // ---- any thread

    /** What is assigned to it; changed between its iterations. */
    WorkerLanes lanes() {
        return lanes;
    }

    @Override
    public ByteBuffer receiveBuffer() {
        return receiveBuffer;
    }

    /** Whether it has ended although it was not closed. */
    boolean hasFailed() {
        return failed;
    }

    @Override
    public void remove(IncomingLane lane) {
        lanes.remove(lane);
    }

    @Override
    public void remove(OutgoingLane lane) {
        lanes.remove(lane);
    }

    @Override
    public void wake() {
        if (asleep) {
            asleep = false;
            lanes.wakeUp();
        }
    }

    // ---- its thread

    @Override
    public void stalled(IncomingLane lane) {
        lanes.stalled(lane);
    }

    @Override
    public void tell(LocalQueuePair queuePair) {
        if (concerned.isEmpty() || !concerned.getLast().equals(queuePair)) {
            concerned.add(queuePair);
        }
    }

    @SuppressWarnings("ThreadPriorityCheck") // yielding is a courtesy here, nothing relies on it
    private void run() {
        long activeAt = System.nanoTime();
        try (lanes) {
            try {
                while (!closed) {
                    if (iterate()) {
                        activeAt = System.nanoTime();
                    } else if (System.nanoTime() - activeAt < pollNanos) {
                        Thread.yield(); // to whoever has no core of its own
                    } else {
                        sleep();
                    }
                }
            } finally {
                lanes.betweenIterations(() -> {
                    busy = false;
                    lanes.end();
                });
            }
        } catch (IOException | RuntimeException | VirtualMachineError e) {
            log.error("{} ends: the queue pairs that have lanes on it fail", name, e);
            failed = true;
            lanes.betweenIterations(() -> lanes.fail(this));
            tellConcerned();
        }
    }

    private boolean iterate() throws IOException {
        lanes.beginIteration();
        try {
            moved = false;
            for (OutgoingLane lane : lanes.outgoing()) {
                moved |= send(lane);
            }
            lanes.goOnStalled(receive);
            lanes.selectNow(onReady);
            if (!moved) {
                help();
            }
        } finally {
            lanes.endIteration();
        }
        tellConcerned();
        return moved;
    }

    /** Not during an iteration: who holds a queue pair's lock may wait for its end. */
    private void tellConcerned() {
        for (int i = 0; i < concerned.size(); i++) {
            concerned.get(i).onPieces();
        }
        concerned.clear();
    }

    private void onReady(SelectionKey key) {
        if (key.attachment() instanceof IncomingLane lane) {
            receive(lane);
        } else if (key.attachment() instanceof OutgoingLane lane && isReadable(key)) {
            lane.onReadable(this, anything.clear());
        }
    }

    /** Whether there is something to be read; only once, until the worker has slept. */
    private static boolean isReadable(SelectionKey key) {
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
        if (!lane.hasWork() || !lane.tryAcquire()) {
            return false;
        }
        try {
            return sendAcquired(lane);
        } finally {
            lane.release();
        }
    }

    /** So who has acquired a lane, and sees that its worker is busy, knows that it is busy with another one. */
    private boolean sendAcquired(OutgoingLane lane) {
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
     * Sends on a lane of a worker that is busy with another. Not for one that is not: it would be in that one's way,
     * and behind with its own lanes.
     */
    private void help() {
        LaneWorker[] all = workers.started();
        for (int i = 0; i < all.length && !moved; i++) {
            int place = (helped + i) % all.length;
            LaneWorker other = all[place];
            if (other != this && other.busy && sendFor(other)) {
                moved = true;
                helped = place;
            }
        }
    }

    private boolean sendFor(LaneWorker other) {
        for (OutgoingLane lane : other.lanes.outgoing()) {
            // whether a socket that was full has room again, its own worker finds out
            if (!lane.isFull() && lane.hasWork() && lane.tryAcquire()) {
                try {
                    if (other.busy && sendAcquired(lane)) {
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
        if (lanes.prepareSelect()) {
            Thread.yield(); // to who has acquired the lane
        } else if (!closed) {
            lanes.select();
        }
        asleep = false;
    }

    /** Ends the thread and closes its lanes. */
    @Override
    public void close() {
        closed = true;
        lanes.wakeUp();
        try {
            thread.join(EventLoop.JOIN_MILLIS);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }
}
