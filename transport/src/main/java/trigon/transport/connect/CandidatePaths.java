package trigon.transport.connect;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import trigon.routing.LocalLink;
import trigon.routing.NoPathException;
import trigon.routing.Path;
import trigon.routing.PeerDescription;
import trigon.routing.Relays;
import trigon.routing.RoutingTable;
import trigon.system.NanoClock;
import trigon.transport.path.Links;

/** The paths to try: those over a link of both ends; those through relays where there is none, or none is left. */
public final class CandidatePaths {

    private static final Duration LOOK = Duration.ofMillis(50);

    private volatile RoutingTable routing;
    private final Relays relays;
    private final Links links;
    private final Duration timeout;
    private final NanoClock clock;

    /**
     * Over this node's links, and through relays.
     *
     * @param timeout how long a link that is down is waited for
     */
    public CandidatePaths(RoutingTable routing, Relays relays, Links links, Duration timeout, NanoClock clock) {
        this.routing = routing;
        this.relays = relays;
        this.links = links;
        this.timeout = timeout;
        this.clock = clock;
    }

    /** From now on the paths are those of another table, which has more links. */
    public void use(RoutingTable table) {
        routing = table;
    }

    /**
     * The paths, in the order in which they should be tried. Waits for a way through relays, or a link that is down,
     * where nothing else leads there, since the others may have started later; on a control thread.
     *
     * @param name of the peer
     * @param tie decides between relays of equal rank
     * @param abandoned whether nobody waits for the connection any more
     * @throws NoPathException if there is none: with both ends' links, and what would help
     */
    List<Path> find(String name, PeerDescription peer, long tie, BooleanSupplier abandoned) {
        long start = clock.nanoTime();
        while (true) {
            try {
                return routing.pathsTo(peer);
            } catch (NoPathException none) {
                List<Path> relayed = relayed(name, peer, tie);
                if (!relayed.isEmpty()) {
                    return relayed;
                }
                if (abandoned.getAsBoolean()
                        || clock.nanoTime() - start >= patience().toNanos()) {
                    throw new NoPathException(
                            (none.getMessage() + " " + relays.report(peer.links())).strip(), none.wereLinksDown());
                }
            }
            pause();
        }
    }

    /** The kernel has no route over an interface that is down. */
    private Duration patience() {
        Duration ofRelays = relays.patience();
        boolean down = links.all().stream().anyMatch(link -> !link.isUp());
        return down && ofRelays.compareTo(timeout) < 0 ? timeout : ofRelays;
    }

    /** The paths over a link of both ends, and then those through relays, as they are known now. */
    public List<Path> now(String name, PeerDescription peer, Optional<LocalLink> preferred, long tie) {
        List<Path> paths = new ArrayList<>();
        try {
            paths.addAll(routing.pathsTo(peer, preferred));
        } catch (NoPathException _) {
            // there may be relays
        }
        paths.addAll(relayed(name, peer, tie));
        return paths;
    }

    /** The paths through relays that are known now; none where the settings prescribe a NIC. */
    public List<Path> relayed(String name, PeerDescription peer, long tie) {
        return routing.isPrescribed(peer) ? List.of() : relays.pathsTo(name, peer.links(), tie);
    }

    private static void pause() {
        try {
            Thread.sleep(LOOK);
        } catch (InterruptedException e) {
            throw new IllegalStateException("interrupted while looking for a relay", e);
        }
    }
}
