package trigon.handshake.connect;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import trigon.handshake.lifeline.HandshakeEventLoop;
import trigon.handshake.message.HandshakeException;
import trigon.handshake.message.HandshakeException.Kind;
import trigon.stream.ConnectFailures;
import trigon.stream.SocketOptions;

/** The TCP connection to a listener, or to the first relay of a circuit there, and why there is none. */
final class TcpDial {

    /** A channel whose segments are limited, in both directions. */
    private static final class NarrowChannel extends NioSocketChannel {
        private final int segmentBytes;

        NarrowChannel(int segmentBytes) {
            this.segmentBytes = segmentBytes;
        }

        @Override
        protected boolean doConnect(SocketAddress to, SocketAddress from) throws Exception {
            javaChannel().bind(from);
            SocketOptions.limitSegments(javaChannel(), segmentBytes);
            return super.doConnect(to, null);
        }
    }

    private TcpDial() {}

    /**
     * Connects, without a deadline; returns at once.
     *
     * @param bound the own address
     * @param attach takes over the channel before it is connected; it is active once a circuit is open, too
     */
    static ChannelFuture connect(
            HandshakeEventLoop loop, Target target, InetSocketAddress bound, Consumer<Channel> attach) {
        int segmentBytes = target.firstHop().segmentBytes();
        return new Bootstrap()
                .group(loop.eventLoop())
                .channelFactory(() -> segmentBytes == 0 ? new NioSocketChannel() : new NarrowChannel(segmentBytes))
                .disableResolver() // targets are addresses, and a resolver would start a thread that has to be ended
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, 0) // the handshake's deadline covers this, too
                .handler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        target.firstHop()
                                .opening()
                                .ifPresent(each ->
                                        channel.pipeline().addLast(new CircuitHandler(target.firstHop(), each)));
                        attach.accept(channel);
                    }
                })
                .connect(target.firstHop().address(), bound);
    }

    /** Why no connection came up, with the remedy. */
    static HandshakeException failure(Target target, Throwable cause) {
        Obstacle obstacle = obstacle(target, cause);
        if (target.firstHop().route().isPresent()) {
            target.firstHop().onUnreachable();
            String text = ConnectFailures.isRefusal(cause)
                    ? "its process has ended, or a firewall refuses TCP"
                    : obstacle.text().orElse("check the link to it");
            return new HandshakeException(
                    Kind.NO_CIRCUIT,
                    "no TCP connection to the relay at %s: %s; %s"
                            .formatted(target.firstHop().address().getHostString(), cause.getMessage(), text));
        }
        return new HandshakeException(
                kindOf(obstacle, cause),
                "no TCP connection: %s; %s"
                        .formatted(
                                cause.getMessage(),
                                obstacle.text()
                                        .orElse("check the link between the two addresses, firewalls, and that the"
                                                + " peer's process still runs")));
    }

    /** The rest of a sentence on a connection that does not come up; empty if the kernel knows no cause. */
    static String causeOfSilence(Target target) {
        return obstacle(target, null).text().map(text -> "; " + text).orElse("");
    }

    private static Kind kindOf(Obstacle obstacle, Throwable cause) {
        if (obstacle.isFirewall()) {
            return Kind.BLOCKED;
        }
        return ConnectFailures.isRefusal(cause) ? Kind.REFUSED : Kind.UNREACHABLE;
    }

    /** Through relays, the peer's address says nothing of the connection's end here. */
    private static Obstacle obstacle(Target target, @Nullable Throwable cause) {
        return Obstacle.between(target.local(), target.firstHop().address().getAddress(), cause);
    }
}
