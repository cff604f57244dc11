package trigon.transport.failover;

import java.util.List;
import org.jspecify.annotations.Nullable;
import trigon.transport.path.PathChannel;

/**
 * What speaks against the paths in use. For who holds the failover's lock, except that the path may be said to be
 * {@linkplain #breaks broken} on any thread.
 */
final class Trouble {

    /** Why the path is of no use any more; null: it may be. */
    private volatile @Nullable String broken;

    /** The lifeline has ended: the peer's end, or the path's. */
    private @Nullable String doubtful;

    /** Nothing was heard for a while, or the link is down. */
    private boolean quiet;

    /** It is of no use any more. */
    void breaks(String why) {
        broken = why;
    }

    /** Its lifeline has ended. */
    void doubts(String why) {
        doubtful = why;
    }

    /** Nothing was heard for a while. */
    void isQuiet() {
        quiet = true;
    }

    /** Something was heard again. */
    void isHeard() {
        quiet = false;
    }

    /** Another path is about to be used. Returns what spoke against the former one. */
    Trouble isOver() {
        Trouble former = new Trouble();
        former.isAgain(this);
        broken = null;
        doubtful = null;
        quiet = false;
        return former;
    }

    /** The former path stays in use. */
    void isAgain(Trouble former) {
        broken = former.broken;
        doubtful = former.doubtful;
        quiet = former.quiet;
    }

    /** Why it is of no use any more; null: it may be. */
    @Nullable
    String broken() {
        return broken;
    }

    /** Whether there is more than silence. */
    boolean isKnown() {
        return broken != null || doubtful != null;
    }

    /** Whether there is any. */
    boolean isThere() {
        return isKnown() || quiet;
    }

    /** For the log: what is known, or what silence means. */
    String words(List<PathChannel> paths) {
        boolean up = paths.stream().allMatch(path -> path.link().isUp());
        return words(up ? "nothing was heard from the peer for more than a second" : "the link is down");
    }

    /** For the log: what is known, or else that. */
    String words(String otherwise) {
        String known = broken != null ? broken : doubtful;
        return known != null ? known : otherwise;
    }
}
