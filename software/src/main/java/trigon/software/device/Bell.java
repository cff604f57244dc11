package trigon.software.device;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.software.call.NativeDevice;
import trigon.software.connection.DataConnection;
import trigon.stream.loop.EventLoop;

/** A device's bell: C writes to a pipe when something is to be decided, and the event loop looks. */
final class Bell implements EventLoop.Handler {

    private static final Logger log = LoggerFactory.getLogger(Bell.class);
    private static final int MANY_RINGS = 16;

    private final Pipe pipe;
    private final NativeDevice device;
    private final Runnable onRing;
    private final ByteBuffer rings = ByteBuffer.allocate(MANY_RINGS);
    private boolean closed;

    /**
     * A bell that rings.
     *
     * @param onRing looks at what C asks for; the event loop
     * @throws IOException if there are no file descriptors
     */
    Bell(EventLoop eventLoop, Runnable onRing) throws IOException {
        this.onRing = onRing;
        pipe = Pipe.open();
        try {
            pipe.sink().configureBlocking(false);
            pipe.source().configureBlocking(false);
            device = new NativeDevice(pipe.sink());
            eventLoop.register(pipe.source(), SelectionKey.OP_READ, this);
        } catch (IOException | RuntimeException | OutOfMemoryError e) {
            closePipe();
            throw e;
        }
    }

    NativeDevice device() {
        return device;
    }

    @Override
    public void onReady() {
        try {
            pipe.source().read(rings.clear());
        } catch (IOException e) {
            log.debug("The bell is silent: {}", e.toString());
        }
        if (hears()) {
            onRing.run();
        }
    }

    private synchronized boolean hears() {
        if (!closed) {
            device.hear();
        }
        return !closed;
    }

    /** C may still ring, though nobody listens. */
    @Override
    public void onLoopEnd(SelectableChannel channel) {}

    /** C has nothing any more that rings; with it ends the device. */
    synchronized void close() {
        closed = true;
        device.close();
        closePipe();
    }

    private void closePipe() {
        DataConnection.closeQuietly(pipe.sink());
        DataConnection.closeQuietly(pipe.source());
    }
}
