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
 * port is the device's LID. Owned by the control thread but for what says otherwise.
 */
final class Listener {

    private static final Logger log = LoggerFactory.getLogger(Listener.class);
    private static final int BACKLOG = 1024;
    private static final int STRANGER_LIMIT = 1024;
    private static final long REPORT_EVERY_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final SoftwareDeviceContext context;
    private final Channel server;
    /** Those that have not sent their preamble. */
    private final Set<InboundConnection> strangers = new HashSet<>();

    private long reportedAt = System.nanoTime() - REPORT_EVERY_NANOS;
    private int unreported;

    Listener(SoftwareDeviceContext context, long preambleMillis) {
        this.context = context;
        ChannelFuture bound = new ServerBootstrap()
                .group(context.control().loop(), context.control().loop())
                .channel(NioServerSocketChannel.class)
                .option(ChannelOption.SO_BACKLOG, BACKLOG)
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

    /** Any thread. */
    int port() {
        return ((InetSocketAddress) server.localAddress()).getPort();
    }

    private void accepted(SocketChannel channel, long preambleMillis) {
        if (strangers.size() == STRANGER_LIMIT) {
            rejected(channel.remoteAddress(), STRANGER_LIMIT + " others have not said who they are either");
            var _ = channel.close();
            return;
        }
        InboundConnection connection = new InboundConnection(channel, context.control(), this, preambleMillis);
        context.socketOptions().apply(channel.config(), connection);
        strangers.add(connection);
        channel.pipeline().addLast(connection);
    }

    void identified(InboundConnection connection, Preamble.Hello hello) {
        strangers.remove(connection);
        SoftwareQueuePair queuePair = context.queuePair(hello.destinationNumber());
        if (queuePair == null) {
            connection.decline("there is no queue pair for " + hello);
        } else if (queuePair.thread() == context.control()) {
            queuePair.responder().offer(connection);
        } else {
            connection.moveTo(queuePair.thread(), () -> queuePair.responder().offer(connection));
        }
    }

    /** Logs a connection that was not accepted; few lines, however many there are. Any thread. */
    synchronized void rejected(InetSocketAddress from, String reason) {
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

    /** A connection has ended without a preamble. */
    void closed(InboundConnection connection) {
        strangers.remove(connection);
    }

    /** Accepts no more; connections that are about to end get their time. */
    void close() {
        var _ = server.close();
    }
}
