package trigon.software.connection;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;

/** A TCP connection of a queue pair, with its place in the event loop's selector. */
public abstract class DataConnection extends StreamReader implements EventLoop.Handler {

    private final EventLoop eventLoop;
    private final SelectionKey key;
    private int armed;

    /** A connection that is not to be looked at for now. */
    protected DataConnection(SocketChannel channel, EventLoop eventLoop, int headerBytes) throws IOException {
        super(channel, headerBytes);
        this.eventLoop = eventLoop;
        key = eventLoop.register(channel, 0, this);
    }

    /** A connection like that, which reads no more than one header until it has a buffer of its own. */
    protected DataConnection(SocketChannel channel, EventLoop eventLoop, int headerBytes, ByteBuffer headerBuffer)
            throws IOException {
        super(channel, headerBytes, headerBuffer, Sharing.FOR_ONE_HEADER);
        this.eventLoop = eventLoop;
        key = eventLoop.register(channel, 0, this);
    }

    /** What goes out has not all gone out. */
    protected abstract boolean hasOutput();

    /** Has the event loop look after it when there is something to be read, or room for what is to be written. */
    public final void arm() {
        int wanted = (isPaused() ? 0 : SelectionKey.OP_READ) | (hasOutput() ? SelectionKey.OP_WRITE : 0);
        if ((wanted & ~armed) != 0) {
            setInterest(wanted);
            eventLoop.wakeUp();
        }
    }

    /** The opposite of {@link #arm}; in force once the event loop has been woken up. */
    public final void disarm() {
        setInterest(0);
    }

    /** The event loop has nothing to do with it any more. */
    protected final void leaveEventLoop() {
        key.cancel();
        eventLoop.wakeUp();
    }

    private void setInterest(int wanted) {
        try {
            if (key.isValid()) {
                key.interestOps(wanted);
                armed = wanted;
            }
        } catch (CancelledKeyException _) {
            // just now, since the provider is being closed
        }
    }

    /** The one that has it in its selector. */
    protected final EventLoop eventLoop() {
        return eventLoop;
    }
}
