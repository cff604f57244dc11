package trigon.stream.loop;

import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import org.jspecify.annotations.Nullable;

/**
 * Accepts the connections of a listener, which stays its owner's, in an event loop. A failure, for lack of file
 * descriptors for example, is followed by a pause of {@link EventLoop#RETRY_NANOS}.
 */
public final class Acceptor implements EventLoop.Handler {

    /** The owner of a listener. Called by the event loop. */
    public interface Owner {

        /** A connection has come; it is the owner's. */
        void onAccepted(SocketChannel channel);

        /** No connection can be accepted for now. */
        void onAcceptFailed(Throwable cause);
    }

    /** The kernel, unless a test stands in for it. */
    interface Source {

        /** The next connection; null if there is none. */
        @Nullable
        SocketChannel accept() throws IOException;
    }

    /** Connections accepted in a row: the event loop has other things to do. */
    private static final int MAX_AT_ONCE = 64;

    private final EventLoop loop;
    private final Source source;
    private final Owner owner;
    private final SelectionKey key;
    private final Timer retry = new Timer(this::resume);

    private Acceptor(EventLoop loop, ServerSocketChannel listener, Source source, Owner owner) throws IOException {
        this.loop = loop;
        this.source = source;
        this.owner = owner;
        key = loop.prepare(listener, 0, this);
    }

    /** Accepts connections from a listener as soon as the event loop's thread runs. */
    public static void prepare(EventLoop loop, ServerSocketChannel listener, Owner owner) throws IOException {
        prepare(loop, listener, listener::accept, owner);
    }

    static void prepare(EventLoop loop, ServerSocketChannel listener, Source source, Owner owner) throws IOException {
        new Acceptor(loop, listener, source, owner).resume();
    }

    private void resume() {
        if (key.isValid()) {
            key.interestOps(SelectionKey.OP_ACCEPT);
        }
    }

    @Override
    public void onReady() {
        try {
            for (int i = 0; i < MAX_AT_ONCE; i++) {
                SocketChannel channel = source.accept();
                if (channel == null) {
                    return;
                }
                owner.onAccepted(channel);
            }
        } catch (ClosedChannelException _) {
            // just now
        } catch (IOException | OutOfMemoryError e) {
            owner.onAcceptFailed(e);
            if (key.isValid()) {
                key.interestOps(0);
                loop.schedule(retry, EventLoop.RETRY_NANOS);
            }
        }
    }
}
