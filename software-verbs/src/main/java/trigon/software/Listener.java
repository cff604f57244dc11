package trigon.software;

import java.io.Closeable;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.verbs.Errno;
import trigon.verbs.VerbsException;

/**
 * Accepts connections on a device's address, and hands those with a proper preamble to the queue pair they name. Its
 * port is the device's LID. The attendant's but for what says otherwise.
 */
final class Listener implements Attendant.Attended {

    private static final Logger log = LoggerFactory.getLogger(Listener.class);
    private static final int BACKLOG = 1024;
    /** Most connections accepted in a row: the attendant has other things to do. */
    private static final int ACCEPTS_AT_ONCE = 64;

    private static final long REPORT_EVERY_NANOS = TimeUnit.SECONDS.toNanos(10);

    /** After a failure, for lack of file descriptors for example: trying again at once would be trying without end. */
    private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final SoftwareDeviceContext context;
    private final long preambleMillis;
    private final ServerSocketChannel server;
    private final SelectionKey key;
    private final Timer retry = new Timer(this::acceptAgain);
    private final Strangers strangers = new Strangers();
    /** Used by all strangers, one after the other. */
    private final ByteBuffer preambleBuffer = Buffers.allocate(WireFormat.PREAMBLE_BYTES);

    private long reportedAt = System.nanoTime() - REPORT_EVERY_NANOS;
    private int unreported;
    private long failureReportedAt = reportedAt;

    Listener(SoftwareDeviceContext context, long preambleMillis) {
        this.context = context;
        this.preambleMillis = preambleMillis;
        ServerSocketChannel bound = null;
        try {
            bound = ServerSocketChannel.open();
            bound.configureBlocking(false);
            bound.bind(new InetSocketAddress(context.device().address(), 0), BACKLOG);
            server = bound;
            key = context.attendant().register(bound, 0, this);
        } catch (IOException | OutOfMemoryError e) {
            closeQuietly(bound);
            throw new VerbsException(
                    "ibv_open_device",
                    context.device().toString(),
                    Errno.EADDRNOTAVAIL,
                    "cannot listen on its address: " + e.getMessage());
        }
        acceptAgain();
        context.attendant().wakeUp();
    }

    private static void closeQuietly(@Nullable Closeable channel) {
        if (channel != null) {
            try {
                channel.close();
            } catch (IOException e) {
                log.debug("Closing a listener: {}", e.toString());
            }
        }
    }

    /** Any thread. */
    int port() {
        return server.socket().getLocalPort();
    }

    @Override
    public void onReady() {
        try {
            for (int i = 0; i < ACCEPTS_AT_ONCE; i++) {
                SocketChannel channel = server.accept();
                if (channel == null) {
                    return;
                }
                accepted(channel);
            }
        } catch (ClosedChannelException _) {
            // just now
        } catch (IOException e) {
            long now = System.nanoTime();
            if (now - failureReportedAt >= REPORT_EVERY_NANOS) {
                failureReportedAt = now;
                log.warn("{} cannot accept connections, and keeps trying: {}", context.deviceName(), e.getMessage());
            }
            if (key.isValid()) {
                key.interestOps(0);
                context.attendant().schedule(retry, RETRY_NANOS);
            }
        }
    }

    private void acceptAgain() {
        if (key.isValid()) {
            key.interestOps(SelectionKey.OP_ACCEPT);
        }
    }

    private void accepted(SocketChannel channel) {
        InboundConnection evicted;
        try {
            context.socketOptions().apply(channel);
            evicted = strangers.add(new InboundConnection(channel, context.attendant(), this, preambleMillis));
        } catch (IOException | OutOfMemoryError e) {
            log.debug("{} was gone when it was accepted, or there is no memory for it: {}", channel, e.toString());
            closeQuietly(channel);
            return;
        }
        if (evicted != null) {
            evicted.reject("more than " + Strangers.MOST + " have not said who they are");
        }
    }

    /** The device's. Any thread. */
    InetAddress address() {
        return context.device().address();
    }

    /** Where strangers read their preamble. */
    ByteBuffer preambleBuffer() {
        return preambleBuffer;
    }

    void identified(InboundConnection connection, Preamble.Hello hello) {
        strangers.remove(connection);
        SoftwareQueuePair queuePair = context.queuePair(hello.destinationNumber());
        if (queuePair == null) {
            connection.decline("there is no queue pair for " + hello);
        } else if (hello.lane() > 0) {
            queuePair.offerLane(connection);
        } else {
            queuePair.offer(connection);
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

    /** Accepts no more; connections that are about to end get their time. Any thread. */
    void close() {
        closeQuietly(server);
        context.attendant().wakeUp(); // lets go of the socket
    }
}
