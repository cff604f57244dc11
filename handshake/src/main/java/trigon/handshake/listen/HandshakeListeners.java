package trigon.handshake.listen;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.RejectedExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.config.HandshakeConfig;
import trigon.handshake.OfferHandler;
import trigon.handshake.lifeline.HandshakeEventLoop;
import trigon.handshake.lifeline.PeerChannel;
import trigon.handshake.message.ConnectionId;
import trigon.handshake.message.ConnectionSecret;
import trigon.handshake.message.HandshakeException;
import trigon.handshake.message.HandshakeException.Kind;
import trigon.handshake.message.HandshakeProofs;
import trigon.handshake.message.NodeIdentity;

/**
 * The listening sockets of a process: one on each link address, opened once, shared by all connections to come.
 *
 * <p>Thread-safe. A peer is heard only if it proves in time that it knows the secret of a registered connection;
 * whatever else connects (a port scan, a silent client) is closed and cannot disturb the others.
 */
public final class HandshakeListeners implements AutoCloseable {

    private static final Logger LOGGER = LoggerFactory.getLogger(HandshakeListeners.class);
    private static final int BACKLOG = 1024;

    private final HandshakeEventLoop loop;
    private final IncomingConnections connections;
    private final HandshakeConfig config;
    private final List<Channel> sockets = new CopyOnWriteArrayList<>();
    private final List<InetSocketAddress> addresses = new CopyOnWriteArrayList<>();
    private volatile boolean closed;

    private HandshakeListeners(HandshakeEventLoop loop, HandshakeConfig config, IncomingConnections connections) {
        this.loop = loop;
        this.config = config;
        this.connections = connections;
    }

    /**
     * Opens a socket on each address. Waits for the local bind only; not to be called on the event loop.
     *
     * @param config the port, and how long a peer may take from its connection to its readiness
     * @param self who this process is, to be compared with who offers
     * @param addresses the links' own addresses
     * @throws HandshakeException of kind LISTEN if one of them cannot be bound; then none is left open
     */
    public static HandshakeListeners open(
            HandshakeEventLoop loop, HandshakeConfig config, NodeIdentity self, Collection<InetAddress> addresses) {
        HandshakeListeners listeners =
                new HandshakeListeners(loop, config, new IncomingConnections(self, config.clusterKey(), loop.clock()));
        try {
            for (InetAddress address : addresses) {
                listeners.listen(address);
            }
        } catch (HandshakeException e) {
            listeners.close();
            throw e;
        }
        // on the loop's thread, so that neither NCCL's threads nor the first peer wait for it
        loop.eventLoop().execute(HandshakeProofs::warmUp);
        return listeners;
    }

    /**
     * Opens a socket on one more address, unless there is one. Waits for the local bind only; not to be called on the
     * event loop.
     *
     * @throws HandshakeException of kind LISTEN if it cannot be bound, or the listeners are closed
     */
    public final void listen(InetAddress address) {
        if (addresses.stream().noneMatch(bound -> bound.getAddress().equals(address))) {
            config.ports().bind(port -> {
                bind(new InetSocketAddress(address, port));
                return address;
            });
        }
    }

    private void bind(InetSocketAddress address) {
        ChannelFuture binding = new ServerBootstrap()
                .group(loop.eventLoop())
                .channel(NioServerSocketChannel.class)
                .option(ChannelOption.SO_REUSEADDR, true) // a restart need not wait for the last run's connections
                .option(ChannelOption.SO_BACKLOG, BACKLOG)
                .handler(new ChannelInitializer<NioServerSocketChannel>() {
                    @Override
                    protected void initChannel(NioServerSocketChannel channel) {
                        loop.adopt(channel);
                    }
                })
                .childHandler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel channel) {
                        InetSocketAddress local = channel.localAddress();
                        InetSocketAddress remote = channel.remoteAddress();
                        PeerChannel.accept(
                                loop,
                                config,
                                channel,
                                () -> new IncomingConnection(loop, config, connections, local, remote));
                    }
                })
                .bind(address)
                .awaitUninterruptibly();
        if (!binding.isSuccess()) {
            throw new HandshakeException(
                    Kind.LISTEN,
                    "cannot listen on %s:%d: %s; %s"
                            .formatted(
                                    address.getAddress().getHostAddress(),
                                    address.getPort(),
                                    binding.cause().getMessage(),
                                    address.getPort() == 0
                                            ? "see that the address belongs to an interface of this machine"
                                            : "ports is %s: see that it has a free one for each process"
                                                    .formatted(config.ports())),
                    binding.cause());
        }
        sockets.add(binding.channel());
        if (closed) {
            var _ = binding.channel().close();
        }
        if (!(binding.channel().localAddress() instanceof InetSocketAddress bound)) {
            throw new AssertionError("a bound socket has an address");
        }
        addresses.add(bound);
        LOGGER.debug("listening on {}", bound);
    }

    /** The addresses with the ports that they were bound to, in the order they were given. */
    public List<InetSocketAddress> addresses() {
        return List.copyOf(addresses);
    }

    /**
     * The port on one of the addresses.
     *
     * @throws IllegalArgumentException if there is no listener on it
     */
    public int port(InetAddress address) {
        return addresses.stream()
                .filter(bound -> bound.getAddress().equals(address))
                .mapToInt(InetSocketAddress::getPort)
                .findFirst()
                .orElseThrow(
                        () -> new IllegalArgumentException("no listener on " + address + ", only on " + addresses));
    }

    /**
     * From now on the handler hears of offers for that connection, until it is unregistered. Once a link came of it,
     * further offers are rejected. To be called before the handle is given to NCCL: an offer for a connection that is
     * not registered is rejected.
     *
     * @param secret what the peer has to know, from its copy of the handle
     * @throws IllegalStateException if it is registered already, or the listeners are closed
     */
    public void register(ConnectionId connection, ConnectionSecret secret, OfferHandler handler) {
        if (closed) {
            throw new IllegalStateException("the listeners are closed");
        }
        connections.register(connection, new Registration(secret, handler));
    }

    /**
     * From now on the handler hears of offers by which a connection goes on over new paths, until it is {@linkplain
     * #unregister(ConnectionId, OfferHandler) unregistered}; however many links come of it. Whoever had registered the
     * connection hears of nothing more.
     */
    public void resume(ConnectionId connection, ConnectionSecret secret, OfferHandler handler) {
        connections.replace(connection, new Registration(secret, handler, true));
    }

    /** Forgets a connection, unless another handler has it by now; an attempt that is under way fails. */
    public void unregister(ConnectionId connection, OfferHandler handler) {
        Registration registration = connections.find(connection);
        if (registration != null && registration.handler().equals(handler)) {
            unregister(connection);
        }
    }

    /**
     * Forgets a connection; an attempt that is under way fails, and the peer is told. An established link is not
     * touched. Unknown connections are ignored.
     */
    public void unregister(ConnectionId connection) {
        Registration removed = connections.unregister(connection);
        if (removed != null) {
            try {
                loop.eventLoop().execute(removed::unregistered);
            } catch (RejectedExecutionException e) {
                LOGGER.debug("connection {} unregistered after the event loop was closed", connection);
            }
        }
    }

    /**
     * Closes the sockets and all that came in through them; attempts under way fail. Waits for the event loop to have
     * done so; not to be called on it. Closing twice is allowed.
     */
    @Override
    public void close() {
        closed = true;
        loop.closeOnThread(() -> {
            for (Channel socket : sockets) {
                var _ = socket.close();
            }
            connections.close();
        });
    }
}
