package trigon.stream;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;
import jdk.net.ExtendedSocketOptions;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.system.kernel.TcpSegments;

/**
 * Options of the sockets of data connections.
 *
 * <p>Sizes of buffers are left to the kernel's own tuning ({@code tcp(7)}).
 */
public final class SocketOptions {

    private static final Logger log = LoggerFactory.getLogger(SocketOptions.class);
    private static final int ASK_SECONDS = 10;
    private static final int ASK_TIMES = 5;

    /** The first question, and so many more without an answer. */
    public static final int NOTICED_SECONDS = ASK_SECONDS * (1 + ASK_TIMES);

    private SocketOptions() {}

    /**
     * Makes it a socket that never blocks, sends at once, and ends when the peer's machine does not know it any more.
     */
    public static void apply(SocketChannel channel) throws IOException {
        channel.configureBlocking(false);
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        // for one case that the transport's lifeline does not cover: the peer's process has ended, a receiver waits
        // for what its kernel still has to send, and then that machine is lost without a word
        channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
    }

    /**
     * Limits the segments of a channel that is bound, and about to be connected, in both directions.
     *
     * @param bytes the most of a segment, without headers
     */
    public static void limitSegments(SocketChannel channel, int bytes) throws IOException {
        if (channel.getLocalAddress() instanceof InetSocketAddress bound) {
            TcpSegments.limit(bound, bytes);
        }
    }

    /**
     * The peer's process is gone, and only what its kernel still has to send is waited for: has this kernel ask the
     * other whether it is there. A machine, or a container, that is gone with what it had to send is noticed {@value
     * #NOTICED_SECONDS} s after it last answered; one that holds it back since nobody reads it answers.
     */
    public static void askOften(SocketChannel channel) {
        try {
            channel.setOption(ExtendedSocketOptions.TCP_KEEPINTERVAL, ASK_SECONDS);
            channel.setOption(ExtendedSocketOptions.TCP_KEEPCOUNT, ASK_TIMES);
            channel.setOption(ExtendedSocketOptions.TCP_KEEPIDLE, ASK_SECONDS);
        } catch (IOException | UnsupportedOperationException e) {
            log.debug("{}: asks after hours only", channel, e); // it is closed already, or no jdk.net in this runtime
        }
    }
}
