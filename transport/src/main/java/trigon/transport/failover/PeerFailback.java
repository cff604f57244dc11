package trigon.transport.failover;

import java.util.List;
import trigon.routing.LocalLink;
import trigon.transport.connect.Counterpart;
import trigon.transport.path.PathChannel;

/**
 * Tells a sender that goes back to its first links, or from a relay to them, from one whose path has failed: it leads
 * to other paths though nothing is wrong with those in use. Guarded by its owner.
 */
final class PeerFailback {

    private final Counterpart sender;
    private final List<LocalLink> home;
    private boolean away;

    PeerFailback(Counterpart sender, List<PathChannel> first) {
        this.sender = sender;
        home = links(first);
    }

    /**
     * The sender leads to other paths. Returns whether that is planned, as far as can be seen here.
     *
     * @param suspicion with the paths in use
     */
    boolean noteBegin(PathSuspicion suspicion, List<PathChannel> inUse) {
        boolean planned = !suspicion.isThere()
                && inUse.stream().allMatch(path -> path.link().isUp() && !path.isQuiet() && !path.isPeerLeaving());
        away = planned && (!links(inUse).equals(home) || inUse.stream().anyMatch(this::isRelayed));
        return planned;
    }

    /** It has led to those. Returns whether that was the way back. */
    boolean noteEnd(List<PathChannel> next) {
        boolean back = away && links(next).equals(home) && next.stream().noneMatch(this::isRelayed);
        away = false;
        return back;
    }

    /** A relay's connection does not come from where the sender's process is. */
    private boolean isRelayed(PathChannel path) {
        return sender.listeners().stream()
                .noneMatch(listener -> listener.address().equals(path.peerAddress()));
    }

    private static List<LocalLink> links(List<PathChannel> paths) {
        return paths.stream().map(path -> path.link().local()).toList();
    }
}
