package trigon.software.requester;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.software.connection.EventLoop;
import trigon.software.connection.PendingConnection;
import trigon.software.connection.StreamReader;
import trigon.software.connection.Timer;

/** Opens the connection of a requester's requests. Used under the queue pair's lock. */
final class RequestConnector implements PendingConnection.Owner {

    private static final Logger log = LoggerFactory.getLogger(RequestConnector.class);

    private final RequestingQueuePair queuePair;
    private final Requester requester;
    private final Timer retry;
    private @Nullable PendingConnection pending;
    private boolean connecting;

    RequestConnector(RequestingQueuePair queuePair, Requester requester) {
        this.queuePair = queuePair;
        this.requester = requester;
        retry = new Timer(queuePair.lock()::locked, this::connect);
    }

    boolean isConnecting() {
        return connecting;
    }

    /** Connects, and tells the requester how it went. */
    void connect() {
        connecting = true;
        PendingConnection begun = new PendingConnection(queuePair, requester.nextPsn(), 0, this);
        pending = begun;
        begun.start();
    }

    @Override
    public void onConnected(SocketChannel channel, SelectionKey key) {
        RequestConnection connection;
        try {
            connection = requester.open(channel);
        } catch (IOException | OutOfMemoryError e) {
            StreamReader.closeQuietly(channel);
            onFailed(e);
            return;
        }
        connecting = false;
        pending = null;
        requester.onConnected(connection);
    }

    @Override
    public void onRefused(String reason) {
        InetSocketAddress peer = queuePair.peer().address();
        log.debug("{} is refused by {}: {}", queuePair, peer, reason);
        stop();
        requester.onRefused("no connection to " + peer + ": " + reason);
    }

    @Override
    public void onFailed(Throwable cause) {
        log.debug("{} cannot connect to {}: {}", queuePair, queuePair.peer().address(), cause.getMessage());
        stop();
        if (requester.hasWork()) {
            connecting = true; // again, until the requester's time limit
            queuePair.device().eventLoop().schedule(retry, EventLoop.RETRY_NANOS);
        }
    }

    /** Gives up. */
    void stop() {
        connecting = false;
        queuePair.onConnectFinished();
        queuePair.device().eventLoop().cancel(retry);
        PendingConnection unfinished = pending;
        pending = null;
        if (unfinished != null) {
            unfinished.giveUp();
        }
    }
}
