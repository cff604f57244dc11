package trigon.transport.connect;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the user which link leads to which peer: once at INFO, however many connections NCCL makes there, and again
 * when it is another link than before. All others are at DEBUG. Thread-safe.
 */
public final class ConnectionLog {

    private static final Logger log = LoggerFactory.getLogger(ConnectionLog.class);

    /** Bounds the memory where peers come and go for ever; then all is said again. */
    private static final int MOST = 10_000;

    private final Set<String> said = ConcurrentHashMap.newKeySet();

    /** A connection is up; the line names the peer, the links and what carries the data. */
    void logUp(String line) {
        if (said.size() >= MOST) {
            said.clear();
        }
        if (said.add(line)) {
            log.info("{}", line);
        } else {
            log.debug("{}", line);
        }
    }
}
