package trigon.handshake.lifeline;

import java.util.HashMap;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The peers of which only the kernel answers, on some channels. The log says so once, and once more when they go on.
 * Event loop only.
 */
final class StoppedPeers {

    private static final Logger log = LoggerFactory.getLogger(StoppedPeers.class);

    /** The number of their channels on which that is so. */
    private final Map<String, Integer> channels = new HashMap<>();

    /** A channel has found out that its peer is stopped. */
    void add(String peer) {
        if (channels.merge(peer, 1, Integer::sum) == 1) {
            log.warn(
                    "the process on {} does not answer, though its kernel does: it is stopped, or gets no processor"
                            + " time; its connections wait for it until handshake.stoppedTimeout",
                    peer);
        }
    }

    /** One of those channels has heard its peer again. */
    void removeHeard(String peer) {
        if (channels.remove(peer) != null) {
            log.info("the process on {} answers again", peer);
        }
    }

    /** One of those channels has ended. */
    void removeEnded(String peer) {
        channels.computeIfPresent(peer, (_, count) -> count == 1 ? null : count - 1);
    }
}
