package trigon.transport.failover;

import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import trigon.handshake.LifelineEnd;
import trigon.handshake.message.EndFailure;
import trigon.routing.Path;
import trigon.transport.path.PathChannel;
import trigon.transport.path.PathLoss;
import trigon.verbs.LinkKind;

/** The paths in use, and what speaks against them. Thread-safe. */
final class PathSuspicion {

    /**
     * So long a quiet path is listened to once the peer has answered over another one: a peer that was stopped answers
     * over all of them.
     */
    static final Duration HEARING = Duration.ofMillis(300);

    /** Weight of a suspicion of the paths; a stronger suspicion replaces a weaker one. */
    private enum Level {
        NONE,
        /** Nothing was heard for a while, or the link is down. */
        QUIET,
        /** The lifeline has ended: the peer's end, or the path's. */
        DOUBTFUL,
        /** Nothing was heard for longer than a peer may be silent; over another path it may answer. */
        SILENT,
        /** A path is of no use any more. */
        BROKEN
    }

    /** State before a move. */
    static final class Before {
        private final State state;

        private Before(State state) {
            this.state = state;
        }
    }

    /** The why is for logs; empty below {@link Level#DOUBTFUL}. Failed are those known to be of no use any more. */
    private record State(List<PathChannel> paths, Level level, String why, Set<PathChannel> failed) {

        static State well(List<PathChannel> paths) {
            return new State(paths, Level.NONE, "", Set.of());
        }

        State raisedTo(Level next, String reason) {
            return next.compareTo(level) < 0 ? this : new State(paths, next, reason, failed);
        }

        State without(PathChannel path) {
            Set<PathChannel> more = new HashSet<>(failed);
            more.add(path);
            return new State(paths, level, why, Set.copyOf(more));
        }
    }

    private State state;

    /** Nothing speaks against those. */
    PathSuspicion(List<PathChannel> paths) {
        state = State.well(paths);
    }

    synchronized boolean isOf(PathChannel path) {
        return state.paths.contains(path);
    }

    /** That path is of no use any more. */
    synchronized void markBroken(PathChannel path, String why) {
        state = state.without(path).raisedTo(Level.BROKEN, why);
    }

    /** One of the paths is, and it is not known which. */
    synchronized void markBroken(String why) {
        state = state.raisedTo(Level.BROKEN, why);
    }

    /** The peer says so, over that path; where there are several it does not say which. */
    private void markBrokenByPeer(PathChannel path, String why) {
        if (state.paths.size() == 1) {
            markBroken(path, why);
        } else {
            markBroken(why);
        }
    }

    /** A path's lifeline has ended. */
    synchronized void markDoubtful(String why) {
        state = state.raisedTo(Level.DOUBTFUL, why);
    }

    /** Nothing was heard for a while. */
    synchronized void markQuiet() {
        state = state.raisedTo(Level.QUIET, "");
    }

    /**
     * That path is lost in that way, unless another one takes its place.
     *
     * @param left whether it is being left, so that the peer may have left it, too
     * @return false if no other path is of any help
     */
    synchronized boolean note(PathChannel path, PathLoss loss, boolean left) {
        switch (loss) {
            case PathLoss.Here here when here.ofCommunicator().isEmpty() -> markBroken(path, here.words());
            case PathLoss.OfPeer(var _, LifelineEnd.Broken _, var _) -> markDoubtful(loss.words());
            case PathLoss.OfPeer(var _, LifelineEnd.Silent _, var _) ->
                state = state.raisedTo(Level.SILENT, loss.words());
            case PathLoss.OfPeer(var _, LifelineEnd.Failed(EndFailure failure), var _)
            when failure.scope() == EndFailure.Scope.PATH -> markBrokenByPeer(path, loss.words());
            case PathLoss.OfPeer(var _, LifelineEnd.Released _, var _) when left -> {}
            case PathLoss _ -> {
                return false;
            }
        }
        return true;
    }

    /** Others are about to be used, against which nothing speaks. Returns what there was, to {@link #restore}. */
    synchronized Before moveTo(List<PathChannel> next) {
        Before before = new Before(state);
        state = State.well(next);
        return before;
    }

    /** The previous paths stay in use. */
    synchronized void restore(Before before) {
        state = before.state;
    }

    /** Why a path is of no use any more; null: all may be. */
    @Nullable
    synchronized String broken() {
        return state.level == Level.BROKEN ? state.why : null;
    }

    /** The paths that are of no use any more, as far as it is known which. */
    synchronized Set<PathChannel> failed() {
        return state.failed;
    }

    /** Tells whether RDMA over that link has failed; over TCP a new path's handshake shows whether the link is well. */
    synchronized boolean hasFailedOver(Path next) {
        return next.kind() == LinkKind.RDMA
                && state.failed.stream().anyMatch(path -> path.link().local().equals(next.local()));
    }

    /** Tells whether more is known than that nothing was heard, which may be over in a moment. */
    synchronized boolean isCertain() {
        return isKnown() || !areLinksUp();
    }

    private boolean areLinksUp() {
        return state.paths.stream().allMatch(path -> path.link().isUp());
    }

    /** Tells whether all that is known is that nothing was heard for longer than a peer may be silent. */
    synchronized boolean isSilent() {
        return state.level == Level.SILENT;
    }

    synchronized boolean isKnown() {
        return state.level.compareTo(Level.QUIET) > 0;
    }

    synchronized boolean isThere() {
        return state.level != Level.NONE;
    }

    /** Forgets silence that is over, if it is all there was. Returns whether nothing speaks against the paths now. */
    synchronized boolean clearIfHeard() {
        boolean well = !isCertain() && state.paths.stream().noneMatch(PathChannel::isQuiet);
        if (well) {
            state = State.well(state.paths);
        }
        return well;
    }

    /** For the log: what is known, or what silence means. */
    synchronized String words() {
        return words(areLinksUp() ? "the peer has been silent for more than a second" : "the link is down");
    }

    /** For the log: what is known, or else that. */
    synchronized String words(String otherwise) {
        return isKnown() ? state.why : otherwise;
    }
}
