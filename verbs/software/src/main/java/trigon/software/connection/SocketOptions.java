package trigon.software.connection;

import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import jdk.net.ExtendedSocketOptions;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What every connection of the software devices sets on its socket.
 *
 * <p>Buffers are only set where the kernel grants them: a size that is cut down to {@code net.core.rmem_max} would be
 * less than what the kernel's own tuning reaches ({@code tcp(7)}).
 */
public final class SocketOptions {

    private static final Logger log = LoggerFactory.getLogger(SocketOptions.class);
    private static final int BUFFER_BYTES = 4 << 20;
    private static final int ASK_SECONDS = 10;
    private static final int ASK_TIMES = 5;

    /** The first question, and so many more without an answer. */
    static final int NOTICED_SECONDS = ASK_SECONDS * (1 + ASK_TIMES);

    private final boolean setsReceiveBuffer;
    private final boolean setsSendBuffer;

    /** Asks the kernel what it grants. */
    public SocketOptions() {
        setsReceiveBuffer = grants("rmem_max");
        setsSendBuffer = grants("wmem_max");
    }

    private static boolean grants(String limit) {
        Path file = Path.of("/proc/sys/net/core", limit);
        try {
            return Long.parseLong(Files.readString(file).strip()) >= BUFFER_BYTES;
        } catch (IOException | NumberFormatException e) {
            log.debug("{} says nothing: {}", file, e.toString());
            return false;
        }
    }

    /**
     * Makes it a socket that never blocks, sends at once, and ends when the peer's machine does not know it any more.
     */
    public void apply(SocketChannel channel) throws IOException {
        channel.configureBlocking(false);
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        // for one case that the transport's lifeline does not cover: the peer's process has ended, a receiver waits
        // for what its kernel still has to send, and then that machine is lost without a word
        channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
        if (setsReceiveBuffer) {
            channel.setOption(StandardSocketOptions.SO_RCVBUF, BUFFER_BYTES);
        }
        if (setsSendBuffer) {
            channel.setOption(StandardSocketOptions.SO_SNDBUF, BUFFER_BYTES);
        }
    }

    /**
     * The peer's process is gone, and only what its kernel still has to send is waited for: has this kernel ask the
     * other whether it is there. A machine, or a container, that is gone with what it had to send is noticed {@value
     * #NOTICED_SECONDS} s after it last answered; one that holds it back since nobody reads it answers.
     */
    static void askOften(SocketChannel channel) {
        try {
            channel.setOption(ExtendedSocketOptions.TCP_KEEPINTERVAL, ASK_SECONDS);
            channel.setOption(ExtendedSocketOptions.TCP_KEEPCOUNT, ASK_TIMES);
            channel.setOption(ExtendedSocketOptions.TCP_KEEPIDLE, ASK_SECONDS);
        } catch (IOException | UnsupportedOperationException e) {
            log.debug("{}: asks after hours only", channel, e); // it is closed already, or no jdk.net in this runtime
        }
    }
}
