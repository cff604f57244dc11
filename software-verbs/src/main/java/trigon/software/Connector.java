package trigon.software;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Opens the connection of a requester's requests. Used under the queue pair's lock. */
final class Connector implements Opening.Owner {

    private static final Logger log = LoggerFactory.getLogger(Connector.class);
    private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final SoftwareQueuePair queuePair;
    private final Requester requester;
    private final Timer retry;
    private @Nullable Opening opening;
    private boolean connecting;

    Connector(SoftwareQueuePair queuePair, Requester requester) {
        this.queuePair = queuePair;
        this.requester = requester;
        retry = new Timer(queuePair::locked, this::connect);
    }

    boolean isConnecting() {
        return connecting;
    }

    /** Connects, and tells the requester how it went. */
    void connect() {
        connecting = true;
        Opening begun = new Opening(queuePair, requester.nextPsn(), 0, this);
        opening = begun;
        begun.start();
    }

    @Override
    public void onOpened(SocketChannel channel, SelectionKey key) {
        RequestConnection connection;
        try {
            connection = new RequestConnection(channel, queuePair, requester);
        } catch (IOException | OutOfMemoryError e) {
            StreamReader.closeQuietly(channel);
            onFailed(e);
            return;
        }
        connecting = false;
        opening = null;
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
            queuePair.attendant().schedule(retry, RETRY_NANOS);
        }
    }

    /** Gives up. */
    void stop() {
        connecting = false;
        queuePair.onOpened();
        queuePair.attendant().cancel(retry);
        Opening unfinished = opening;
        opening = null;
        if (unfinished != null) {
            unfinished.giveUp();
        }
    }
}
