package trigon.transport.failover.search;

import java.time.Duration;

/**
 * Judgement of one remote process by all that connections with it find out: whether it can be reached, and whether it
 * is lost. An answer to one of them, over any path, counts for all. Time counts from one finding to the next, and not
 * while this process asks nothing, or gets no processor time to do so: nobody is lost for that. Pure; guarded by its
 * owner.
 */
final class Peer {

    /** Judgement by the latest finding. */
    enum State {
        /** Its process answers over some path. */
        REACHED,
        /** Its kernel answers over some path, and its process over none. */
        STOPPED,
        /** Nobody answers. */
        UNREACHABLE,
        /** That has lasted for too long. */
        LOST
    }

    /** Longest time between two findings: a round of questions with what may be between two, twice. */
    static final Duration LONGEST_STEP =
            AskingRound.LONGEST.plus(Search.LONGEST_PAUSE).multipliedBy(2);

    private final long peerTimeout;
    private final long stoppedTimeout;
    private boolean found;
    private long latest;

    /** Nanoseconds without an answer of its process. */
    private long unheard;

    /** Nanoseconds without an answer of its kernel, either. */
    private long unanswered;

    /**
     * One of which nothing is known.
     *
     * @param peerTimeout it is lost when nobody has answered for longer
     * @param stoppedTimeout it is lost when its process has not answered for longer
     */
    Peer(Duration peerTimeout, Duration stoppedTimeout) {
        this.peerTimeout = peerTimeout.toNanos();
        this.stoppedTimeout = stoppedTimeout.toNanos();
    }

    /** Takes note of what a round of questions has found. Returns what is to be thought of the process now. */
    State observe(Found round, long now) {
        boolean asked = found && now - latest <= LONGEST_STEP.toNanos();
        long step = asked ? now - latest : 0;
        found = true;
        latest = now;
        boolean reached = !round.alive().isEmpty();
        unheard = reached ? 0 : unheard + step;
        unanswered = reached || round.isStopped() ? 0 : unanswered + step;
        if (unanswered > peerTimeout || unheard > stoppedTimeout) {
            return State.LOST;
        }
        return reached ? State.REACHED : round.isStopped() ? State.STOPPED : State.UNREACHABLE;
    }

    /** Nanoseconds that its process has not answered. */
    long unheard() {
        return unheard;
    }

    /** Returns whether nobody has asked for so long that nothing is known any more. */
    boolean isForgotten(long now) {
        return now - latest > LONGEST_STEP.toNanos();
    }
}
