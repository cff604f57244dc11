package trigon.transport.failover.search;

import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.Set;
import java.util.function.Function;
import trigon.routing.Path;
import trigon.system.NanoClock;
import trigon.transport.resume.SenderResume;

/** State of one connection's search for a path. Used by one step of it at a time. */
public final class Search {

    private static final Duration FIRST_PAUSE = Duration.ofMillis(20);
    static final Duration LONGEST_PAUSE = Duration.ofMillis(500);

    /** Moves that may fail one after the other: as many as may fail without a message getting across. */
    static final int MAX_FAILED_MOVES = SenderResume.MAX_FRUITLESS;

    private final NanoClock clock;
    private final Absence absence = new Absence();
    private final Set<Path> excluded = new HashSet<>();
    private long start;
    private int failedMoves;
    private boolean gone;
    private boolean lost;
    private Duration pause = FIRST_PAUSE;

    /** One that begins now. */
    public Search(NanoClock clock) {
        this.clock = clock;
        restart();
    }

    /** It begins again: the connection has moved, and its new paths have failed. */
    public void restart() {
        start = clock.nanoTime();
        failedMoves = 0;
    }

    /** Counts a move that came to nothing, though the peer had answered. */
    public void countFailedMove() {
        failedMoves++;
    }

    /**
     * Returns whether to give up: nobody has answered any connection for too long; or the peer answers all the time,
     * and no move to where it does has succeeded.
     */
    public boolean isOver(Duration limit) {
        return lost || (failedMoves > MAX_FAILED_MOVES && nanos() > limit.toNanos());
    }

    /** For how long it has gone on, in nanoseconds. */
    public long nanos() {
        return clock.nanoTime() - start;
    }

    /** Leaves a path out of the next round, where there are others. */
    public void exclude(Path failed) {
        excluded.add(failed);
    }

    /** Leaves these out, likewise. Returns whether there were any. */
    public boolean exclude(Collection<Path> failed) {
        return excluded.addAll(failed);
    }

    /**
     * Returns what speaks against paths in the round that begins now: that they are excluded, for this round, or else
     * that.
     */
    public Function<Path, PathPenalty> penalty(Function<Path, PathPenalty> otherwise) {
        Set<Path> taken = Set.copyOf(excluded);
        excluded.clear();
        return path -> taken.contains(path) ? PathPenalty.JUST_FAILED : otherwise.apply(path);
    }

    /** Takes note of what a round has found. */
    public void observe(Found found) {
        gone = absence.observe(found, clock.nanoTime());
        lost = found.isLost();
    }

    /** Returns whether the peer's end of the connection is no more, as the last round has it. */
    public boolean isGone() {
        return gone;
    }

    /** So long to the next round. */
    public Duration nextPause() {
        Duration next = absence.until(pause, clock.nanoTime());
        Duration doubled = pause.multipliedBy(2);
        pause = doubled.compareTo(LONGEST_PAUSE) < 0 ? doubled : LONGEST_PAUSE;
        return next;
    }
}
