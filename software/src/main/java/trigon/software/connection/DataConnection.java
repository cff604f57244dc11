package trigon.software.connection;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.Channel;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.software.call.NativeConnection;
import trigon.stream.ByteStream;
import trigon.stream.SocketOptions;
import trigon.stream.SocketStream;
import trigon.stream.loop.EventLoop;
import trigon.system.kernel.TcpEnds;

/**
 * A TCP connection of a queue pair, with its place in the event loop's selector. C has its data while a queue pair has
 * it; before that and afterwards they are the event loop's. Only then its socket is closed.
 */
public abstract class DataConnection implements EventLoop.Handler {

    private static final Logger log = LoggerFactory.getLogger(DataConnection.class);

    /** As {@code poll(2)} says it, and C. */
    private static final int POLLIN = 1;

    private static final int POLLOUT = 4;

    private static final int DISCARDED_BYTES = 4 << 10;
    private static final int READS_AT_ONCE = 4;

    private final SocketChannel channel;
    private final EventLoop eventLoop;
    private final SelectionKey key;
    private ByteStream carrier;
    private int armed;
    private @Nullable NativeConnection inC;
    private volatile boolean ended; // others may ask
    private boolean asksOften;

    /** A connection that is not to be looked at for now. */
    protected DataConnection(SocketChannel channel, EventLoop eventLoop) throws IOException {
        this.channel = channel;
        this.eventLoop = eventLoop;
        carrier = new SocketStream(channel);
        key = eventLoop.register(channel, 0, this);
    }

    /** Its socket's two addresses; empty if it has ended. */
    public final Optional<TcpEnds> ends() {
        try {
            return channel.getLocalAddress() instanceof InetSocketAddress local
                            && channel.getRemoteAddress() instanceof InetSocketAddress remote
                    ? Optional.of(new TcpEnds(local, remote))
                    : Optional.empty();
        } catch (IOException _) {
            return Optional.empty();
        }
    }

    /** Its TCP connection. */
    public final SocketChannel channel() {
        return channel;
    }

    /** The carrier of its bytes: the TCP connection, unless something else does. */
    public final ByteStream carrier() {
        return carrier;
    }

    /** Something else carries its bytes from now on; nothing may have been read ahead. */
    protected final void carryBy(ByteStream other) {
        carrier = other;
        if (!other.isSelectable()) {
            keepSelected();
        } else {
            disarm(); // until it is armed anew
        }
    }

    /** C has its data from now on, of a queue pair that it is about to be given to. */
    protected final void giveToC(NativeConnection connection) {
        inC = connection;
    }

    /** Its part in C; null before {@link #giveToC}. */
    public final @Nullable NativeConnection inC() {
        return inC;
    }

    /** {@link SocketOptions#askOften} from now on. Under the lock of the queue pair. */
    public final void askOften() {
        if (!asksOften) {
            asksOften = true;
            SocketOptions.askOften(channel);
        }
    }

    // ---- its place in the selector

    /** Its socket is ready; returns whether there may be something to do. */
    protected final boolean listen(int wanted) {
        boolean woken = carrier.listen();
        if (!carrier.isSelectable() && interest(wanted) == 0) { // the neighbour has gone, which it says all the time
            armed = setInterest(0) ? 0 : armed;
        }
        return woken;
    }

    private int interest(int wanted) {
        return carrier.interest((wanted & POLLIN) != 0, (wanted & POLLOUT) != 0);
    }

    /**
     * Has the event loop look after it when it is ready.
     *
     * @param wanted what for, as {@code poll(2)} says it
     */
    final void arm(int wanted) {
        int operations = interest(wanted);
        try {
            carrier.sleep();
        } catch (IOException e) {
            eventLoop.execute(this::onReady); // whoever reads next meets the same
        }
        if ((operations & ~armed) != 0) {
            armed = setInterest(operations) ? operations : armed;
            eventLoop.wakeUp();
        }
    }

    /** To be read, and written if there is more of that; until it is armed anew. */
    protected final void armAnew(boolean writes) {
        disarm();
        arm(writes ? POLLIN | POLLOUT : POLLIN);
    }

    /**
     * The opposite of {@link #arm}; in force once the event loop has been woken up. What the neighbour says beside its
     * bytes is heard nevertheless.
     */
    public final void disarm() {
        if (!staysSelected()) {
            armed = setInterest(0) ? 0 : armed;
        }
    }

    /** Returns whether its socket is looked at, though others look after what comes. */
    protected boolean staysSelected() {
        return !carrier.isSelectable();
    }

    /** Events that the event loop looks for, as {@code poll(2)} says it. */
    final int armed() {
        return ((armed & SelectionKey.OP_READ) != 0 ? POLLIN : 0)
                | ((armed & SelectionKey.OP_WRITE) != 0 ? POLLOUT : 0);
    }

    /** Has its socket looked at from now on. */
    protected final void keepSelected() {
        armed = setInterest(SelectionKey.OP_READ) ? SelectionKey.OP_READ : 0;
        eventLoop.wakeUp();
    }

    private boolean setInterest(int operations) {
        try {
            if (key.isValid()) {
                key.interestOps(operations);
                return true;
            }
        } catch (CancelledKeyException _) {
            // just now, since the provider is being closed
        }
        return false;
    }

    /** The one that has it in its selector. */
    protected final EventLoop eventLoop() {
        return eventLoop;
    }

    // ---- without C

    /** Reads what is expected; true once all of it is there. */
    protected final boolean fills(ByteBuffer expected) throws IOException {
        if (expected.hasRemaining() && carrier.read(expected) < 0) {
            end("its other side closed it");
        }
        return !ended && !expected.hasRemaining();
    }

    /** Throws away what has come, but not without limit. */
    protected final void discardInput() {
        ByteBuffer unread = ByteBuffer.allocate(DISCARDED_BYTES);
        try {
            int bytes = DISCARDED_BYTES;
            for (int i = 0; i < READS_AT_ONCE && bytes == DISCARDED_BYTES; i++) {
                bytes = carrier.read(unread.clear());
            }
            if (bytes < 0) {
                end("its other side closed it");
            }
        } catch (IOException e) {
            end(e.toString());
        }
    }

    /** The channel is closed next. */
    protected void beforeClose() {}

    /** The connection has ended, and the channel is closed; called once, whoever ended it. */
    protected abstract void onClosed();

    /** Ends the connection, which no queue pair has in C. Ending twice is allowed. */
    public final void end(String reason) {
        if (ended) {
            return;
        }
        ended = true;
        log.debug("Connection {} ends: {}", channel, reason);
        if (channel.isOpen()) {
            beforeClose();
        }
        carrier.close();
        onClosed();
        eventLoop.wakeUp(); // lets go of the socket
    }

    /** Returns whether the connection has come to its end. Any thread. */
    public final boolean isEnded() {
        return ended;
    }

    /** Closes a channel; if that fails, a line in the log is all. */
    public static void closeQuietly(Channel channel) {
        try {
            channel.close();
        } catch (IOException e) {
            log.debug("Closing {}: {}", channel, e.toString());
        }
    }
}
