package trigon.software;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import java.net.InetSocketAddress;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.verbs.Errno;
import trigon.verbs.VerbsException;

/**
 * Accepts connections on a device's address, and hands those with a proper preamble to the queue pair they name. Its
 * port is the device's LID. Apart from the constructor and {@link #port} it is owned by the event loop.
 */
final class Listener {

    private static final Logger log = LoggerFactory.getLogger(Listener.class);
    private static final int BACKLOG = 1024;
    private static final int CONNECTION_LIMIT = 65536;
    private static final long REPORT_EVERY_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final SoftwareDeviceContext context;
    private final Channel server;
    private final Set<InboundConnection> connections = new HashSet<>();
    private long reportedAt = System.nanoTime() - REPORT_EVERY_NANOS;
    private int unreported;

    Listener(SoftwareDeviceContext context, long preambleMillis) {
        this.context = context;
        ChannelFuture bound = new ServerBootstrap()
                .group(context.thread().loop(), context.thread().loop())
                .channel(NioServerSocketChannel.class)
                .option(ChannelOption.SO_BACKLOG, BACKLOG)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childOption(ChannelOption.RECVBUF_ALLOCATOR, context.staging())
                .childHandler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel channel) {
                        accepted(channel, preambleMillis);
                    }
                })
                .bind(new InetSocketAddress(context.device().address(), 0))
                .awaitUninterruptibly();
        if (!bound.isSuccess()) {
            throw new VerbsException(
                    "ibv_open_device",
                    context.device().toString(),
                    Errno.EADDRNOTAVAIL,
                    "cannot listen on its address: " + bound.cause().getMessage());
        }
        server = bound.channel();
    }

    int port() {
        return ((InetSocketAddress) server.localAddress()).getPort();
    }

    private void accepted(SocketChannel channel, long preambleMillis) {
        if (connections.size() == CONNECTION_LIMIT) {
            rejected(channel.remoteAddress(), "there are " + CONNECTION_LIMIT + " connections already");
            var _ = channel.close();
            return;
        }
        InboundConnection connection = new InboundConnection(channel, context.staging(), this, preambleMillis);
        connections.add(connection);
        channel.pipeline().addLast(connection);
    }

    void identified(InboundConnection connection, Preamble.Hello hello) {
        SoftwareQueuePair queuePair = context.queuePair(hello.destinationNumber());
        if (queuePair == null) {
            connection.reject("there is no queue pair for " + hello);
        } else {
            queuePair.responder().offer(connection);
        }
    }

    /** Logs a connection that was not accepted; few lines, however many there are. */
    void rejected(InetSocketAddress from, String reason) {
        long now = System.nanoTime();
        if (now - reportedAt < REPORT_EVERY_NANOS) {
            unreported++;
            return;
        }
        log.info(
                "{} closed a connection from {}: {} ({} more since the last such line)",
                context.deviceName(),
                from,
                reason,
                unreported);
        reportedAt = now;
        unreported = 0;
    }

    void closed(InboundConnection connection) {
        connections.remove(connection);
        Preamble.Hello hello = connection.helloOrNull();
        SoftwareQueuePair queuePair = hello == null ? null : context.queuePair(hello.destinationNumber());
        if (queuePair != null) {
            queuePair.responder().forget(connection);
        }
    }

    /** Accepts no more; connections that are about to end get their time. */
    void close() {
        var _ = server.close();
    }
}
