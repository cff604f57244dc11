package trigon.handshake.lifeline;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.system.NanoClock;
import trigon.system.kernel.TcpEnds;
import trigon.system.kernel.UnansweredConnections;

/**
 * Tells a peer whose process is stopped from one that is out of reach, by this machine's kernel: a lifeline says once a
 * second that this end lives, and the kernel of a stopped process acknowledges that. Event loop only.
 */
final class UnansweredLifelines {

    private static final Logger log = LoggerFactory.getLogger(UnansweredLifelines.class);

    /** Repetitions until a kernel is taken for silent: 1.4 s at least, and more than a busy network loses. */
    private static final int TIMES = 3;

    private final NanoClock clock;
    private @Nullable Set<TcpEnds> known;
    private long readAt;

    UnansweredLifelines(NanoClock clock) {
        this.clock = clock;
    }

    /** Asks whether the other end's kernel answers. The kernel's tables are read once a second at most. */
    boolean ask(InetSocketAddress local, InetSocketAddress remote) {
        try {
            long now = clock.nanoTime();
            Set<TcpEnds> unanswered = known;
            if (unanswered == null || now - readAt >= SilenceClock.BEAT_NANOS) {
                unanswered = UnansweredConnections.read(TIMES);
                known = unanswered;
                readAt = now;
            }
            return !unanswered.contains(new TcpEnds(local, remote));
        } catch (IOException | RuntimeException e) {
            log.debug("the kernel's connections cannot be read: silence counts as the peer's end", e);
            return false;
        }
    }
}
