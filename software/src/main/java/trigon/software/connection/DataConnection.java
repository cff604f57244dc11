package trigon.software.connection;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import trigon.stream.ByteStream;
import trigon.stream.loop.EventLoop;
import trigon.system.kernel.TcpEnds;

/** A TCP connection of a queue pair, with its place in the event loop's selector, and in that of a mover. */
public abstract class DataConnection extends StreamReader implements EventLoop.Handler {

    private final EventLoop eventLoop;
    private final SelectionKey key;
    private int armed;
    private @Nullable Selector mover;

    /** A connection that is not to be looked at for now, and brings headers without payloads. */
    protected DataConnection(SocketChannel channel, EventLoop eventLoop, int headerBytes) throws IOException {
        super(channel, headerBytes, 0);
        this.eventLoop = eventLoop;
        key = eventLoop.register(channel, 0, this);
    }

    /** A connection like that, which reads no more than one header until it has a buffer of its own. */
    protected DataConnection(SocketChannel channel, EventLoop eventLoop, int headerBytes, ByteBuffer headerBuffer)
            throws IOException {
        super(channel, headerBytes, headerBuffer);
        this.eventLoop = eventLoop;
        key = eventLoop.register(channel, 0, this);
    }

    /** Returns its socket's two addresses; empty if it has ended. */
    public final Optional<TcpEnds> ends() {
        try {
            return key.channel() instanceof SocketChannel socket
                            && socket.getLocalAddress() instanceof InetSocketAddress local
                            && socket.getRemoteAddress() instanceof InetSocketAddress remote
                    ? Optional.of(new TcpEnds(local, remote))
                    : Optional.empty();
        } catch (IOException _) {
            return Optional.empty();
        }
    }

    /** What goes out has not all gone out. */
    protected abstract boolean hasOutput();

    /** Length of the payload that is under way on it; 0 if there is none. */
    protected abstract int bytesUnderWay();

    private int wanted() {
        return carrier().interest(!isPaused(), hasOutput());
    }

    /** Its socket is ready: whether there may be something to do. */
    protected final boolean listen() {
        boolean woken = carrier().listen();
        if (!carrier().isSelectable() && wanted() == 0) { // the neighbour has gone, which the socket says all the time
            armed = setInterest(key, 0) ? 0 : armed;
        }
        return woken;
    }

    /** Returns whether something is to be read at once, though no socket is ready. */
    final boolean hasInput() {
        return !isPaused() && carrier().hasInput();
    }

    /**
     * Returns whether there is output that may wait for no more than what is being sent: no socket tells when that is
     * over.
     */
    final boolean isSending() {
        return hasOutput() && carrier().isSending();
    }

    /** Has the event loop look after it when there is something to be read, or room for what is to be written. */
    public final void arm() {
        int wanted = wanted();
        sleep();
        if ((wanted & ~armed) != 0) {
            armed = setInterest(key, wanted) ? wanted : armed;
            eventLoop.wakeUp();
        }
    }

    /**
     * The opposite of {@link #arm}; in force once the event loop has been woken up. What the neighbour says beside its
     * bytes is heard nevertheless.
     */
    public final void disarm() {
        if (!staysSelected()) {
            armed = setInterest(key, 0) ? 0 : armed;
        }
    }

    /** Returns whether its socket is looked at, though others look after what comes. */
    protected boolean staysSelected() {
        return !carrier().isSelectable();
    }

    /** Has its socket looked at from now on. */
    protected final void keepSelected() {
        armed = setInterest(key, SelectionKey.OP_READ) ? SelectionKey.OP_READ : 0;
        eventLoop.wakeUp();
    }

    private void sleep() {
        try {
            carrier().sleep();
        } catch (IOException e) {
            eventLoop.execute(this::onReady); // whoever reads next meets the same
        }
    }

    /**
     * Has a mover wait for it like that.
     *
     * @throws IOException if its selector takes no more
     */
    final void armFor(Selector mover, ProgressLock queuePair) throws IOException {
        this.mover = mover;
        sleep();
        SelectionKey its = channel().keyFor(mover);
        if (its != null) {
            setInterest(its, wanted());
        } else if (!isEnded()) {
            channel().register(mover, wanted(), queuePair);
        }
    }

    /** The opposite of {@link #armFor}. */
    final void disarmFor(Selector mover) {
        setInterest(channel().keyFor(mover), 0);
    }

    /** It has ended: the selectors let go of the socket. */
    protected final void leaveSelectors() {
        eventLoop.wakeUp();
        if (mover != null) {
            mover.wakeup();
        }
    }

    private static boolean setInterest(@Nullable SelectionKey key, int wanted) {
        try {
            if (key != null && key.isValid()) {
                key.interestOps(wanted);
                return true;
            }
        } catch (CancelledKeyException _) {
            // just now, since the provider is being closed
        }
        return false;
    }

    /** Something else carries its bytes from now on; nothing may have been read ahead. */
    protected final void carryBy(ByteStream other) {
        setCarrier(other);
        if (staysSelected()) {
            keepSelected();
        } else {
            disarm(); // until it is armed anew
        }
    }

    /** The one that has it in its selector. */
    protected final EventLoop eventLoop() {
        return eventLoop;
    }
}
