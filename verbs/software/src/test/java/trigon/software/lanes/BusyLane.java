package trigon.software.lanes;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import trigon.software.connection.LocalDevice;
import trigon.software.connection.LocalQueuePair;
import trigon.software.connection.Peer;
import trigon.software.connection.ProgressLock;
import trigon.software.memory.ProtectedMemory;
import trigon.software.wire.ConnectionProofs;
import trigon.software.wire.WireFormat;

/** A lane that its worker is busy with until it is closed: telling its queue pair that it is broken takes so long. */
final class BusyLane implements LocalQueuePair, AutoCloseable {

    private static final long PATIENCE_SECONDS = 120;

    private final CountDownLatch entered = new CountDownLatch(1);
    private final CountDownLatch released = new CountDownLatch(1);
    private final ServerSocketChannel listener = ServerSocketChannel.open();
    private final LaneWorker worker;
    private final OutgoingLane lane;

    /** Returns once the worker is busy with it. */
    BusyLane(LaneWorker worker) throws IOException, InterruptedException {
        this.worker = worker;
        listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        SocketChannel channel = SocketChannel.open(listener.getLocalAddress());
        channel.configureBlocking(false);
        lane = new OutgoingLane(channel, 1, this, worker, new SentPieces());
        worker.lanes().add(lane);
        lane.offer(null, 0, WireFormat.SEND, 0, 0, 1, 0, 1, 0); // a byte of no memory cannot be sent
        if (!entered.await(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
            throw new AssertionError("the worker has not sent on the lane");
        }
    }

    @Override
    public void onBroken() {
        entered.countDown();
        try {
            if (!released.await(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                throw new AssertionError("nobody has closed the lane");
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public void close() throws IOException {
        released.countDown();
        worker.lanes().remove(lane);
        listener.close();
    }

    @Override
    public void onPieces() {
        // nobody waits for any
    }

    @Override
    public int number() {
        throw new UnsupportedOperationException();
    }

    @Override
    public LocalDevice device() {
        throw new UnsupportedOperationException();
    }

    @Override
    public ProgressLock lock() {
        throw new UnsupportedOperationException();
    }

    @Override
    public ProtectedMemory memory() {
        throw new UnsupportedOperationException();
    }

    @Override
    public Peer peer() {
        throw new UnsupportedOperationException();
    }

    @Override
    public ConnectionProofs proofs() {
        throw new UnsupportedOperationException();
    }

    @Override
    public void workLater() {
        throw new UnsupportedOperationException();
    }

    @Override
    public void enterError(String reason) {
        throw new UnsupportedOperationException();
    }
}
