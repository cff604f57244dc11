package trigon.software.requester;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.software.call.Word;
import trigon.software.connection.LocalDevice;
import trigon.software.wire.WireFormat;
import trigon.stream.ByteStream;
import trigon.stream.Conversation;
import trigon.stream.dial.PendingStream;
import trigon.stream.dial.PendingStream.Attendance;
import trigon.stream.loop.EventLoop;
import trigon.stream.loop.Timer;

/** Opens the connection of a requester's requests. Used under the queue pair's lock. */
final class RequestConnector implements PendingStream.Owner {

    /** Whose connection it is. Called under the queue pair's lock. */
    interface Owner {

        /** The PSN that a connection opened now begins with. */
        int nextPsn();

        /** Opens a connection on a socket that the peer has accepted, by its carrier. */
        RequestConnection open(SocketChannel channel, ByteStream carrier, boolean relayed) throws IOException;

        /** The connection that was opened is there. */
        void onConnected(RequestConnection established);

        /** Nobody listens at the peer's address, or who does takes no connection. The next request tries again. */
        void onRefused(String reason);

        /** Returns whether a request waits for the connection. */
        boolean hasWork();
    }

    private static final Logger log = LoggerFactory.getLogger(RequestConnector.class);

    /** Relays that may turn out to be gone, one after the other, before a connection is refused. */
    private static final int MAX_RELAYS_LOST = 4;

    private final RequestingQueuePair queuePair;
    private final Owner owner;
    private final Timer retry;
    private @Nullable PendingStream pending;
    private boolean connecting;

    /** Relays that were gone since the last connection, or since it gave up last. */
    private int relaysLost;

    RequestConnector(RequestingQueuePair queuePair, Owner owner) {
        this.queuePair = queuePair;
        this.owner = owner;
        retry = new Timer(queuePair.lock()::locked, this::connect);
    }

    boolean isConnecting() {
        return connecting;
    }

    private void setConnecting(boolean on) {
        connecting = on;
        queuePair.inC().set(Word.CONNECTING, on ? 1 : 0);
    }

    /** Connects, and tells the owner how it went. */
    void connect() {
        setConnecting(true);
        LocalDevice device = queuePair.device();
        PendingStream begun =
                device.dialer().dial(device.address(), queuePair.peer().address(), WireFormat.SAID_FIRST);
        pending = begun;
        Conversation first = new PreambleConversation(queuePair, owner.nextPsn(), begun.isUpgraded());
        begun.start(new Attendance(device.eventLoop(), queuePair.lock()::locked, first, this));
    }

    @Override
    public void onOpened(SocketChannel channel, SelectionKey key, ByteStream carrier) {
        boolean relayed = Objects.requireNonNull(pending).isRelayed();
        RequestConnection connection;
        try {
            connection = owner.open(channel, carrier, relayed);
        } catch (IOException | OutOfMemoryError e) {
            carrier.close();
            onFailed(e);
            return;
        }
        setConnecting(false);
        pending = null;
        relaysLost = 0;
        owner.onConnected(connection);
    }

    @Override
    public void onRefused(String reason) {
        InetSocketAddress peer = queuePair.peer().address();
        log.debug("{} is refused by {}: {}", queuePair, peer, reason);
        stop();
        owner.onRefused("no connection to " + peer + ": " + reason);
    }

    @Override
    public void onRelayLost(String reason) {
        if (++relaysLost == MAX_RELAYS_LOST) {
            onRefused(reason);
            return;
        }
        log.debug(
                "{} takes another relay to {}: {}", queuePair, queuePair.peer().address(), reason);
        pending = null;
        queuePair.device().eventLoop().schedule(retry, EventLoop.RETRY_NANOS);
    }

    @Override
    public void onFailed(Throwable cause) {
        log.debug("{} cannot connect to {}: {}", queuePair, queuePair.peer().address(), cause.getMessage());
        stop();
        if (owner.hasWork()) {
            setConnecting(true); // again, until the owner's time limit
            queuePair.device().eventLoop().schedule(retry, EventLoop.RETRY_NANOS);
        }
    }

    /** Gives up what is on its way, and tries no more until {@link #connect}. */
    void stop() {
        setConnecting(false);
        relaysLost = 0;
        queuePair.onConnectFinished();
        queuePair.device().eventLoop().cancel(retry);
        PendingStream unfinished = pending;
        pending = null;
        if (unfinished != null) {
            unfinished.giveUp();
        }
    }
}
