package trigon.transport.resume;

/**
 * The sending end, which leads. Each event gives the next state, with the step to take. An event that comes when none
 * of its kind is due changes nothing: what is late, doubled or of an older attempt does no harm.
 *
 * <p>Immutable; not tied to a thread.
 *
 * @param state where it is
 * @param step what is to be done now
 * @param epoch the attempt whose paths are in use
 * @param attempt the latest attempt
 * @param begun messages begun, S; of the last fence
 * @param confirmed messages confirmed, C; of the last fence
 * @param received messages that the peer says are complete there, R; of the last answer
 * @param fruitless epochs in a row that failed with messages under way and without one having got across
 * @param lost why it has failed
 */
public record SenderResume(
        State state,
        Step step,
        int epoch,
        int attempt,
        long begun,
        long confirmed,
        long received,
        int fruitless,
        LostReason lost) {

    /** Epochs that may fail one after the other without a message getting across. */
    public static final int MAX_FRUITLESS = 8;

    /** State of an end. */
    public enum State {
        /** Its paths are in use. */
        UP,
        /** The paths are given up, and being fenced. */
        FENCING,
        /** All former paths are fenced, and no attempt is under way. */
        FENCED,
        /** New paths are offered. */
        OFFERED,
        /** The peer has answered; it has been told that this end is ready. */
        READY,
        /** The session has failed. */
        LOST
    }

    /** Begins with a session whose first paths have just come up. */
    public static SenderResume up() {
        return new SenderResume(State.UP, Step.NOTHING, 0, 0, 0, 0, 0, 0, LostReason.NONE);
    }

    /**
     * The paths in use are of no use any more: a work request failed, a device or the peer said so, or the peer answers
     * elsewhere while nothing is heard over them.
     */
    public SenderResume broken() {
        return state == State.UP ? to(State.FENCING, Step.FENCE) : nothing();
    }

    /** All paths are fenced. */
    public SenderResume fenced(long begunNow, long confirmedNow) {
        if (state != State.FENCING) {
            return nothing();
        }
        boolean inVain = begunNow > confirmedNow && confirmedNow == received && epoch > 0;
        int fruitlessNow = inVain ? fruitless + 1 : 0;
        SenderResume counted = new SenderResume(
                State.FENCED, Step.PROBE, epoch, attempt, begunNow, confirmedNow, received, fruitlessNow, lost);
        return fruitlessNow > MAX_FRUITLESS ? counted.losing(LostReason.FRUITLESS) : counted;
    }

    /** The peer has answered a greeting, and proven that it is the peer: it lives, and that path works. */
    public SenderResume challenged() {
        return state == State.FENCED
                ? new SenderResume(
                        State.OFFERED, Step.OFFER, epoch, attempt + 1, begun, confirmed, received, fruitless, lost)
                : nothing();
    }

    /** The peer has answered an offer. */
    public SenderResume answered(int ofAttempt, long receivedThere) {
        if (state != State.OFFERED || ofAttempt != attempt) {
            return nothing();
        }
        if (receivedThere < confirmed || receivedThere > begun) {
            return losing(LostReason.MISCOUNT);
        }
        int fruitlessNow = receivedThere > received ? 0 : fruitless;
        return new SenderResume(
                State.READY, Step.READY, epoch, attempt, begun, confirmed, receivedThere, fruitlessNow, lost);
    }

    /** The peer has heard that this end is ready, and goes on. */
    public SenderResume confirmed(int ofAttempt) {
        return state == State.READY && ofAttempt == attempt
                ? new SenderResume(State.UP, Step.GO_ON, attempt, attempt, begun, confirmed, received, fruitless, lost)
                : nothing();
    }

    /** An attempt has come to nothing. Its paths are closed; the peer may believe that they are in use. */
    public SenderResume failed(int ofAttempt) {
        boolean underWay = state == State.OFFERED || state == State.READY;
        return underWay && ofAttempt == attempt ? to(State.FENCED, Step.PROBE) : nothing();
    }

    private SenderResume losing(LostReason why) {
        return new SenderResume(State.LOST, Step.LOSE, epoch, attempt, begun, confirmed, received, fruitless, why);
    }

    private SenderResume nothing() {
        return to(state, Step.NOTHING);
    }

    private SenderResume to(State next, Step toDo) {
        return new SenderResume(next, toDo, epoch, attempt, begun, confirmed, received, fruitless, lost);
    }
}
