package trigon.software;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ConnectTimeoutException;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Opens a requester's connection to its peer, from the device's address. Owned by the event loop. */
final class Connector {

    private static final Logger log = LoggerFactory.getLogger(Connector.class);
    private static final int RETRY_MILLIS = 100;

    private final SoftwareQueuePair queuePair;
    private final Requester requester;
    private boolean connecting;
    /** Grows with each {@link #stop}, so that a late outcome of connecting is recognized. */
    private int epoch;

    Connector(SoftwareQueuePair queuePair, Requester requester) {
        this.queuePair = queuePair;
        this.requester = requester;
    }

    boolean isConnecting() {
        return connecting;
    }

    /** Connects, and tells the requester how it went. */
    void connect() {
        connecting = true;
        int attempt = epoch;
        SoftwareDeviceContext context = queuePair.context();
        InetSocketAddress peer = queuePair.peer().address();
        ChannelFuture outcome = new Bootstrap()
                .group(queuePair.loop())
                .channel(NioSocketChannel.class)
                .handler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        RequestConnection connection = new RequestConnection(channel, queuePair.thread(), requester);
                        context.socketOptions().apply(channel.config(), connection);
                        channel.pipeline().addLast(connection);
                    }
                })
                .connect(peer, new InetSocketAddress(context.device().address(), 0));
        outcome.addListener(done -> {
            Throwable cause = done.cause();
            if (cause == null) {
                succeeded(outcome.channel().pipeline().get(RequestConnection.class), attempt);
            } else if (attempt == epoch) {
                failed(peer, cause);
            }
        });
    }

    private void succeeded(RequestConnection connection, int attempt) {
        if (attempt == epoch) {
            connecting = false;
            requester.onConnected(connection);
        } else {
            connection.close();
        }
    }

    private void failed(InetSocketAddress peer, Throwable cause) {
        log.debug("{} cannot connect to {}: {}", queuePair, peer, cause.getMessage());
        connecting = false;
        if (cause instanceof ConnectException && !(cause instanceof ConnectTimeoutException)) {
            requester.onRefused("cannot connect to " + peer + ": " + cause.getMessage());
        } else if (requester.hasWork()) {
            connectLater(); // until the requester's time limit
        }
    }

    private void connectLater() {
        connecting = true;
        int attempt = epoch;
        var _ = queuePair
                .loop()
                .schedule(
                        () -> {
                            if (attempt == epoch) {
                                connect();
                            }
                        },
                        RETRY_MILLIS,
                        TimeUnit.MILLISECONDS);
    }

    /** Gives up. */
    void stop() {
        epoch++;
        connecting = false;
    }
}
