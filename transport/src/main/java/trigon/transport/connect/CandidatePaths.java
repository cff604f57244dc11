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

/** The paths to try: those over a link of both ends; those through relays where there is none, or none is left. */
public final class CandidatePaths {

    private static final Duration LOOK = Duration.ofMillis(50);

    private final RoutingTable routing;
    private final Relays relays;

    /** Over this node's links, and through relays. */
    public CandidatePaths(RoutingTable routing, Relays relays) {
        this.routing = routing;
        this.relays = relays;
    }

    /**
     * The paths, in the order in which they should be tried. Waits for a way through relays where nothing else leads
     * there, since the others may have started later; on a control thread.
     *
     * @param name of the peer
     * @param tie decides between relays of equal rank
     * @param abandoned whether nobody waits for the connection any more
     * @throws NoPathException if there is none: with both ends' links, and what would help
     */
    List<Path> find(
            String name, PeerDescription peer, Optional<LocalLink> preferred, long tie, BooleanSupplier abandoned) {
        try {
            return routing.pathsTo(peer, preferred);
        } catch (NoPathException none) {
            long deadline = System.nanoTime() + relays.patience().toNanos();
            List<Path> relayed = relayed(name, peer, tie);
            while (relayed.isEmpty() && !abandoned.getAsBoolean() && System.nanoTime() < deadline) {
                pause();
                relayed = relayed(name, peer, tie);
            }
            if (relayed.isEmpty()) {
                throw new NoPathException((none.getMessage() + " " + relays.report(peer.links())).strip());
            }
            return relayed;
        }
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
