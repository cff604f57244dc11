package trigon.software;

import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What every connection of the software devices sets on its socket.
 *
 * <p>Buffers are only set where the kernel grants them: a size that is cut down to {@code net.core.rmem_max} would be
 * less than what the kernel's own tuning reaches ({@code tcp(7)}).
 */
final class SocketOptions {

    private static final Logger log = LoggerFactory.getLogger(SocketOptions.class);
    private static final int BUFFER_BYTES = 4 << 20;

    private final boolean setsReceiveBuffer;
    private final boolean setsSendBuffer;

    SocketOptions() {
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

    /** Makes it a socket that never blocks, sends at once, and ends when the peer's machine does not know it any more. */
    void apply(SocketChannel channel) throws IOException {
        channel.configureBlocking(false);
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        // for one case that the transport's lifeline does not cover: the peer's process has ended in order or was
        // killed,
        // a receiver waits for what its kernel still has to send, and then that machine is lost without a word
        channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
        if (setsReceiveBuffer) {
            channel.setOption(StandardSocketOptions.SO_RCVBUF, BUFFER_BYTES);
        }
        if (setsSendBuffer) {
            channel.setOption(StandardSocketOptions.SO_SNDBUF, BUFFER_BYTES);
        }
    }
}
