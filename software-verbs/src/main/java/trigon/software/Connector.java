package trigon.software;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Opens a requester's connection to its peer, from the device's address. Used under the queue pair's lock. */
final class Connector {

    private static final Logger log = LoggerFactory.getLogger(Connector.class);
    private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final SoftwareQueuePair queuePair;
    private final Requester requester;
    private final Timer retry;
    private @Nullable SocketChannel opening;
    private boolean connecting;
    /** Grows with each {@link #stop}, so that a late outcome of connecting is recognized. */
    private int epoch;

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
        SoftwareDeviceContext context = queuePair.context();
        RequestConnection connection;
        try {
            int attempt = epoch;
            SocketChannel channel = SocketChannel.open();
            opening = channel;
            context.socketOptions().apply(channel);
            channel.bind(new InetSocketAddress(context.device().address(), 0));
            if (!channel.connect(queuePair.peer().address())) {
                queuePair
                        .attendant()
                        .register(
                                channel,
                                SelectionKey.OP_CONNECT,
                                () -> queuePair.locked(() -> onConnectable(channel, attempt)));
                return;
            }
            connection = new RequestConnection(channel, queuePair, requester);
        } catch (IOException | OutOfMemoryError e) {
            failed(e);
            return;
        }
        succeeded(connection);
    }

    private void onConnectable(SocketChannel channel, int attempt) {
        if (attempt != epoch) {
            return; // given up meanwhile
        }
        RequestConnection connection;
        try {
            if (!channel.finishConnect()) {
                return;
            }
            connection = new RequestConnection(channel, queuePair, requester);
        } catch (IOException | OutOfMemoryError e) {
            failed(e);
            return;
        }
        succeeded(connection);
    }

    private void succeeded(RequestConnection connection) {
        epoch++;
        connecting = false;
        opening = null;
        requester.onConnected(connection);
    }

    /** The cause is a lack of buffers, if it is no {@link IOException}: there may be some in a moment. */
    private void failed(Throwable cause) {
        InetSocketAddress peer = queuePair.peer().address();
        log.debug("{} cannot connect to {}: {}", queuePair, peer, cause.getMessage());
        stop();
        if (cause instanceof ConnectException) {
            requester.onRefused("cannot connect to " + peer + ": " + cause.getMessage());
        } else if (requester.hasWork()) {
            connecting = true; // again, until the requester's time limit
            queuePair.attendant().schedule(retry, RETRY_NANOS);
        }
    }

    /** Gives up. */
    void stop() {
        epoch++;
        connecting = false;
        queuePair.attendant().cancel(retry);
        SocketChannel unfinished = opening;
        opening = null;
        if (unfinished != null) {
            StreamReader.closeQuietly(unfinished);
            queuePair.attendant().wakeUp(); // lets go of the socket
        }
    }
}
