package trigon.transport.connect;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Tells the user which link leads to which peer: once at INFO, however many connections NCCL makes there, and again
 * when it is another link than before. All others are at DEBUG. Thread-safe.
 */
public final class ConnectionLog {

    private static final Logger log = LoggerFactory.getLogger(ConnectionLog.class);

    /** Bounds the memory where peers come and go for ever; then all is said again. */
    private static final int MAX = 10_000;

    private final Set<String> said = ConcurrentHashMap.newKeySet();
    private final long start = System.nanoTime();
    private final AtomicBoolean hasConnected = new AtomicBoolean();

    /** A connection is up; the line names the peer, the links and what carries the data. */
    void logUp(String line) {
        log.atLevel(noteIfNew(line) ? Level.INFO : Level.DEBUG).log("{}", line);
    }

    /** The process's first connection is where the start of a job waits; how long those to come take is at DEBUG. */
    void logTimes(String peer, PendingConnection connection) {
        TimeLine times = connection.timeLine();
        boolean isFirst = hasConnected.compareAndSet(false, true);
        log.atLevel(isFirst ? Level.INFO : Level.DEBUG)
                .log(
                        "{} to {} began {} ms after init, and took {}",
                        isFirst ? "the first connection" : "the connection",
                        peer,
                        TimeUnit.NANOSECONDS.toMillis(times.begun() - start),
                        times);
    }

    /** Nothing got across over a link that seems well, so it is not taken now; the line names it, and the peer. */
    void logUnproven(String line) {
        log.atLevel(noteIfNew(line) ? Level.WARN : Level.DEBUG).log("{}", line);
    }

    private boolean noteIfNew(String line) {
        if (said.size() >= MAX) {
            said.clear();
        }
        return said.add(line);
    }
}
