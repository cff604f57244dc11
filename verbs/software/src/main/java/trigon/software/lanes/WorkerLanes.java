package trigon.software.lanes;

import java.io.IOException;
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
import trigon.software.connection.StreamReader;

/**
 * The lanes that a worker has, in its selector. They are changed between two iterations of the worker's loop, by any
 * thread; what is said to be the worker's is called during one.
 */
final class WorkerLanes implements AutoCloseable {

    /** Which way a lane goes. */
    enum Direction {
        OUTGOING,
        INCOMING
    }

    /** Held during an iteration. Fair, since the next one follows at once. */
    private final ReentrantLock iteration = new ReentrantLock(true);

    private final Selector selector = Selector.open();
    private final List<IncomingLane> incoming = new ArrayList<>();
    private final List<IncomingLane> stalled = new ArrayList<>();

    /** Replaced with every change; used by workers that help, too. */
    private volatile OutgoingLane[] outgoing = new OutgoingLane[0];

    private volatile int incomingCount;
    /** It takes no lanes any more. */
    private volatile boolean ended;

    WorkerLanes() throws IOException {}

    // ---- any thread

    /** Begins to send on a lane. */
    void add(OutgoingLane lane) throws IOException {
        register(lane.channel(), lane);
        betweenIterations(() -> {
            OutgoingLane[] more = Arrays.copyOf(outgoing, outgoing.length + 1);
            more[outgoing.length] = lane;
            outgoing = ended ? outgoing : more;
        });
        requireGoingOn();
    }

    /** Begins to receive on a lane. */
    void add(IncomingLane lane) throws IOException {
        register(lane.channel(), lane);
        betweenIterations(() -> {
            if (!ended) {
                incoming.add(lane);
                incomingCount = incoming.size();
            }
        });
        requireGoingOn();
    }

    private void requireGoingOn() throws ClosedChannelException {
        if (ended) {
            throw new ClosedChannelException();
        }
    }

    private void register(SocketChannel channel, Object lane) throws IOException {
        try {
            channel.register(selector, SelectionKey.OP_READ, lane);
            selector.wakeup();
        } catch (ClosedSelectorException _) {
            throw new ClosedChannelException();
        }
    }

    /** Sends no more on a lane, and closes it. */
    void remove(OutgoingLane lane) {
        lane.retire(); // first, since this needs no memory
        betweenIterations(() ->
                outgoing = Arrays.stream(outgoing).filter(each -> each != lane).toArray(OutgoingLane[]::new));
        StreamReader.closeQuietly(lane.channel());
        selector.wakeup(); // lets go of the socket
    }

    /** Receives no more on a lane, and closes it. */
    void remove(IncomingLane lane) {
        betweenIterations(() -> {
            lane.end("the queue pair is done with it");
            stalled.remove(lane);
            incoming.remove(lane);
            incomingCount = incoming.size();
        });
        selector.wakeup(); // lets go of the socket
    }

    /** Runs an action between two iterations. */
    void betweenIterations(Runnable action) {
        iteration.lock();
        try {
            action.run();
        } finally {
            iteration.unlock();
        }
    }

    /** Those that it sends on; not to be changed. */
    OutgoingLane[] outgoing() {
        return outgoing;
    }

    /** How many of them go one way. */
    int count(Direction direction) {
        return switch (direction) {
            case OUTGOING -> outgoing.length;
            case INCOMING -> incomingCount;
        };
    }

    /** How many there are. */
    int count() {
        return outgoing.length + incomingCount;
    }

    /** Ends a {@link #select}, or the next one. */
    void wakeUp() {
        selector.wakeup();
    }

    // ---- the worker's

    void beginIteration() {
        iteration.lock();
    }

    void endIteration() {
        iteration.unlock();
    }

    /** Hands on the lanes whose sockets are ready; does not wait for any. */
    void selectNow(Consumer<SelectionKey> onReady) throws IOException {
        selector.selectNow(onReady);
    }

    /** Waits until a socket is ready, or {@link #wakeUp}. Not during an iteration. */
    void select() throws IOException {
        selector.select(key -> {}); // data are looked for in the next iteration
    }

    /** A lane waits for a receive to be posted. */
    void stalled(IncomingLane lane) {
        stalled.add(lane);
    }

    /** Goes on with lanes that were stalled and whose receive is there. */
    void goOnStalled(Consumer<IncomingLane> receive) {
        for (int i = stalled.size() - 1; i >= 0; i--) {
            IncomingLane lane = stalled.get(i);
            if (lane.goOn()) {
                stalled.remove(i);
                receive.accept(lane);
                setInterest(lane.channel(), SelectionKey.OP_READ);
            }
        }
    }

    /** Sets what a {@link #select} is to wait for; true if there is something to be done at once. */
    boolean prepareSelect() {
        boolean hasWork = false;
        iteration.lock();
        try {
            for (OutgoingLane lane : outgoing) {
                // it waits for the socket, or it is something that came just now
                hasWork |= lane.hasWork() && !lane.isFull();
                setInterest(lane.channel(), lane.interest());
            }
            for (IncomingLane lane : stalled) {
                // what is to be read must not wake the worker before the receive is there
                setInterest(lane.channel(), 0);
                hasWork |= lane.canGoOn();
            }
        } finally {
            iteration.unlock();
        }
        return hasWork;
    }

    private void setInterest(SocketChannel channel, int interest) {
        SelectionKey key = channel.keyFor(selector);
        if (key != null && key.isValid()) {
            key.interestOps(interest);
        }
    }

    /** Closes all, and takes no more: peers are to see that this end is gone. */
    void end() {
        ended = true;
        for (SelectionKey key : selector.keys()) {
            if (key.attachment() instanceof IncomingLane lane) {
                lane.end("its worker has ended");
            } else if (key.attachment() instanceof OutgoingLane lane) {
                lane.retire();
                StreamReader.closeQuietly(lane.channel());
            }
        }
    }

    /** The worker has failed, and their queue pairs with it. */
    void fail(LaneHost worker) {
        for (OutgoingLane lane : outgoing) {
            lane.abort(worker);
        }
        for (IncomingLane lane : incoming) {
            lane.fail("its worker has failed");
        }
    }

    /** Closes the selector. */
    @Override
    public void close() throws IOException {
        selector.close();
    }
}
