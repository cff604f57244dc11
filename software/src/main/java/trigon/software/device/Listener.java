package trigon.software.device;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import trigon.software.connection.DataConnection;
import trigon.software.connection.LocalDevice;
import trigon.software.responder.InboundConnection;
import trigon.software.wire.Preamble;
import trigon.stream.SocketOptions;
import trigon.stream.hop.HopUpgrade;
import trigon.stream.loop.Acceptor;
import trigon.system.Errno;
import trigon.system.NanoClock;
import trigon.system.RareMessage;
import trigon.verbs.VerbsException;

/**
 * Accepts connections on a device's address, and hands those with a proper preamble to the queue pair they name. Its
 * port is the device's LID. The event loop's but for what says otherwise.
 */
final class Listener implements Acceptor.Owner, InboundConnection.Acceptor {

    private static final Logger log = LoggerFactory.getLogger(Listener.class);
    private static final int BACKLOG = 1024;

    private final LocalDevice device;
    private final IntFunction<@Nullable QueuePairEngine> queuePairs;
    private final ServerSocketChannel server;
    private final UnidentifiedConnections unidentified = new UnidentifiedConnections();
    private final RareMessage rejections = new RareMessage(log, Level.INFO, NanoClock.SYSTEM);
    private final RareMessage failures = new RareMessage(log, Level.WARN, NanoClock.SYSTEM);

    /**
     * Listens from now on.
     *
     * @param queuePairs the device's by their numbers; null for a number that none has
     */
    Listener(LocalDevice device, IntFunction<@Nullable QueuePairEngine> queuePairs) {
        this.device = device;
        this.queuePairs = queuePairs;
        ServerSocketChannel bound = null;
        try {
            bound = device.ports().bind(this::listen);
            server = bound;
            Acceptor.prepare(device.eventLoop(), bound, this);
        } catch (IOException | OutOfMemoryError e) {
            if (bound != null) {
                DataConnection.closeQuietly(bound);
            }
            throw new VerbsException(
                    "ibv_open_device",
                    device.settings().toString(),
                    Errno.EADDRNOTAVAIL,
                    "cannot listen on its address, %s port: %s".formatted(device.ports(), e.getMessage()));
        }
        device.eventLoop().wakeUp();
    }

    private ServerSocketChannel listen(int port) throws IOException {
        ServerSocketChannel bound = ServerSocketChannel.open();
        try {
            bound.configureBlocking(false);
            return bound.bind(new InetSocketAddress(device.address(), port), BACKLOG);
        } catch (IOException e) {
            DataConnection.closeQuietly(bound);
            throw e;
        }
    }

    /** The TCP port that peers connect to. Any thread. */
    int port() {
        return server.socket().getLocalPort();
    }

    @Override
    public void onAcceptFailed(Throwable cause) {
        failures.log(device.name() + " cannot accept connections, and keeps trying: " + cause.getMessage());
    }

    @Override
    public void onAccepted(SocketChannel channel) {
        InboundConnection evicted;
        try {
            SocketOptions.apply(channel);
            evicted = unidentified.add(new InboundConnection(channel, device.eventLoop(), this));
        } catch (IOException | OutOfMemoryError e) {
            log.debug("{} was gone when it was accepted, or there is no memory for it: {}", channel, e.toString());
            DataConnection.closeQuietly(channel);
            return;
        }
        if (evicted != null) {
            evicted.reject("more than " + UnidentifiedConnections.MAX + " have not identified themselves");
        }
    }

    @Override
    public InetAddress address() {
        return device.address();
    }

    @Override
    public HopUpgrade lastHop(InetAddress relay) {
        return device.dialer().accept(device.address(), relay);
    }

    @Override
    public void onIdentified(InboundConnection connection, Preamble.Hello hello) {
        unidentified.remove(connection);
        QueuePairEngine queuePair = queuePairs.apply(hello.destinationNumber());
        if (queuePair == null) {
            connection.decline("there is no queue pair for " + hello);
        } else {
            queuePair.offer(connection);
        }
    }

    /** Any thread. */
    @Override
    public void onRejected(InetSocketAddress from, String reason) {
        rejections.log("%s closed a connection from %s: %s".formatted(device.name(), from, reason));
    }

    @Override
    public void onClosed(InboundConnection connection) {
        unidentified.remove(connection);
    }

    /** Accepts no more; connections that are about to end get their time. Any thread. */
    void close() {
        DataConnection.closeQuietly(server);
        device.eventLoop().wakeUp(); // lets go of the socket
    }
}
