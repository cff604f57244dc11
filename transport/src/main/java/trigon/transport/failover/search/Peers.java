package trigon.transport.failover.search;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.handshake.message.LinkAddress;
import trigon.system.NanoClock;
import trigon.transport.connect.Counterpart;

/**
 * The remote processes that connections ask for, each judged once for all of them. The log says once that no path leads
 * to one, and once more that a path does again. Thread-safe.
 */
public final class Peers {

    private static final Logger log = LoggerFactory.getLogger(Peers.class);

    /** Usual number of them; of more, those for which nobody asks any more are forgotten. */
    private static final int USUAL = 64;

    /**
     * One process, as those connections see it that may take the same paths.
     *
     * @param listeners where it listens
     * @param pinned whether they are of memory that only RDMA carries
     */
    private record Key(List<LinkAddress> listeners, boolean pinned) {}

    /** A process, and since when the log says that no path leads there, if it does. */
    private static final class Sought {
        final Peer peer;
        boolean warned;
        long unheard;

        Sought(Peer peer) {
            this.peer = peer;
        }
    }

    private final Duration peerTimeout;
    private final Duration stoppedTimeout;
    private final NanoClock clock;
    private final Map<Key, Sought> sought = new HashMap<>();

    /** Nobody is asked for. */
    public Peers(Duration peerTimeout, Duration stoppedTimeout, NanoClock clock) {
        this.peerTimeout = peerTimeout;
        this.stoppedTimeout = stoppedTimeout;
        this.clock = clock;
    }

    /**
     * Takes note of what one connection has found.
     *
     * @param pinned whether it is of memory that only RDMA carries
     * @param ways that there are and cannot be taken, for the log; empty if there are none
     * @return true if the process is lost: nobody has answered any connection for too long
     */
    public synchronized boolean observe(Counterpart peer, boolean pinned, Found found, Supplier<String> ways) {
        long now = clock.nanoTime();
        if (sought.size() > USUAL) {
            sought.values().removeIf(each -> each.peer.isForgotten(now));
        }
        Sought process = sought.computeIfAbsent(
                new Key(peer.listeners(), pinned), _ -> new Sought(new Peer(peerTimeout, stoppedTimeout)));
        Peer.State state = process.peer.observe(found, now);
        switch (state) {
            case REACHED -> noteReached(process, peer.name());
            case UNREACHABLE -> warnOnce(process, peer.name(), found, ways);
            case STOPPED, LOST -> {} // the lifeline says that it is stopped; each connection, that it is lost
        }
        process.unheard = process.peer.unheard();
        return state == Peer.State.LOST;
    }

    synchronized int size() {
        return sought.size();
    }

    /** Says so, unless the connections may end in a moment because nobody knows them any more. */
    private static void warnOnce(Sought process, String name, Found found, Supplier<String> ways) {
        if (!process.warned && !found.isGone() && process.peer.unheard() > Absence.LASTS.toNanos()) {
            process.warned = true;
            log.warn(
                    "no path to {} is up: its connections wait for one until handshake.peerTimeout{}",
                    name,
                    ways.get());
        }
    }

    private static void noteReached(Sought process, String name) {
        if (process.warned) {
            process.warned = false;
            log.info("{} answers again, after {} ms", name, TimeUnit.NANOSECONDS.toMillis(process.unheard));
        }
    }
}
