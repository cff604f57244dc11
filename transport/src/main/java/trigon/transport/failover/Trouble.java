package trigon.transport.failover;

import java.util.List;
import org.jspecify.annotations.Nullable;
import trigon.handshake.LifelineEnd;
import trigon.handshake.message.EndFailure;
import trigon.transport.path.PathChannel;
import trigon.transport.path.PathLoss;

/** The paths in use, and what speaks against them. Thread-safe. */
final class Trouble {

    private List<PathChannel> paths;

    /** Why the path is of no use any more; null: it may be. */
    private @Nullable String broken;

    /** The lifeline has ended: the peer's end, or the path's. */
    private @Nullable String doubtful;

    /** Nothing was heard for a while, or the link is down. */
    private boolean quiet;

    /** Nothing speaks against those. */
    Trouble(List<PathChannel> paths) {
        this.paths = paths;
    }

    /** Whether it is in use. */
    synchronized boolean isOf(PathChannel path) {
        return paths.contains(path);
    }

    /** It is of no use any more. */
    synchronized void breaks(String why) {
        broken = why;
    }

    /**
     * It is lost in that way, unless another one takes its place.
     *
     * @param left whether it is being left, so that the peer may have left it, too
     * @return false if no other path is of any help
     */
    synchronized boolean by(PathLoss loss, boolean left) {
        switch (loss) {
            case PathLoss.Here here when here.ofCommunicator().isEmpty() -> breaks(here.words());
            case PathLoss.OfPeer(var _, LifelineEnd.Broken _) -> doubts(loss.words());
            case PathLoss.OfPeer(var _, LifelineEnd.Failed(EndFailure failure))
            when failure.scope() == EndFailure.Scope.PATH -> breaks(loss.words());
            case PathLoss.OfPeer(var _, LifelineEnd.Released _) when left -> {}
            case PathLoss _ -> {
                return false;
            }
        }
        return true;
    }

    /** Its lifeline has ended. */
    synchronized void doubts(String why) {
        doubtful = why;
    }

    /** Nothing was heard for a while. */
    synchronized void markQuiet() {
        quiet = true;
    }

    /** Others are about to be used. Returns what spoke against the former ones. */
    synchronized Trouble turnsTo(List<PathChannel> next) {
        Trouble former = new Trouble(paths);
        former.restore(this);
        paths = next;
        broken = null;
        doubtful = null;
        quiet = false;
        return former;
    }

    /** The former ones stay in use. */
    synchronized void restore(Trouble former) {
        paths = former.paths;
        broken = former.broken;
        doubtful = former.doubtful;
        quiet = former.quiet;
    }

    /** Why it is of no use any more; null: it may be. */
    @Nullable
    synchronized String broken() {
        return broken;
    }

    /** Whether there is more than silence. */
    synchronized boolean isKnown() {
        return broken != null || doubtful != null;
    }

    /** Whether there is any. */
    synchronized boolean isThere() {
        return isKnown() || quiet;
    }

    /** Whether all may be well: silence is all there was, and is over. */
    synchronized boolean isHeardAgain() {
        boolean again =
                !isKnown() && paths.stream().allMatch(path -> path.link().isUp() && !path.isQuiet());
        quiet &= !again;
        return again;
    }

    /** For the log: what is known, or what silence means. */
    synchronized String words() {
        boolean up = paths.stream().allMatch(path -> path.link().isUp());
        return words(up ? "nothing was heard from the peer for more than a second" : "the link is down");
    }

    /** For the log: what is known, or else that. */
    synchronized String words(String otherwise) {
        String known = broken != null ? broken : doubtful;
        return known != null ? known : otherwise;
    }
}
