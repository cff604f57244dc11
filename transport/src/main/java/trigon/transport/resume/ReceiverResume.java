package trigon.transport.resume;

/**
 * The receiving end, which follows. Each event gives the next state, with the step to take; an event that is not due
 * changes nothing.
 *
 * <p>Immutable; not tied to a thread.
 *
 * @param state where it is
 * @param step what is to be done now
 * @param epoch the attempt whose paths are in use
 * @param attempt the latest attempt that it has heard of
 * @param begun what the sender says of it: messages begun, S
 * @param confirmed likewise: messages confirmed, C
 * @param received messages complete here, R; of the last fence
 * @param lost why it has failed
 */
public record ReceiverResume(
        State state, Step step, int epoch, int attempt, long begun, long confirmed, long received, LostReason lost) {

    /** State of an end. */
    public enum State {
        /** Its paths are in use. */
        UP,
        /** The paths are given up, and being fenced; the sender knows nothing of it. */
        FENCING,
        /** The same, and the sender has offered new ones. */
        FENCING_FOR_OFFER,
        /** All former paths are fenced; the sender is to offer new ones. */
        FENCED,
        /** New paths are up here; the sender is to say that it is ready. */
        ANSWERED,
        /** The session has failed. */
        LOST
    }

    /** Begins with a session whose first paths have just come up. */
    public static ReceiverResume up() {
        return new ReceiverResume(State.UP, Step.NOTHING, 0, 0, 0, 0, 0, LostReason.NONE);
    }

    /** The paths in use are of no use any more. */
    public ReceiverResume broken() {
        return state == State.UP ? to(State.FENCING, Step.FENCE) : nothing();
    }

    /** The sender offers new paths, and says what it has begun, and what was confirmed to it. */
    public ReceiverResume offered(int ofAttempt, long begunThere, long confirmedThere) {
        if (state == State.LOST || ofAttempt <= attempt) {
            return to(state, Step.REFUSE);
        }
        ReceiverResume offered =
                new ReceiverResume(state, Step.NOTHING, epoch, ofAttempt, begunThere, confirmedThere, received, lost);
        return switch (state) {
            case UP -> offered.to(State.FENCING_FOR_OFFER, Step.FENCE);
            case FENCING, FENCING_FOR_OFFER -> offered.to(State.FENCING_FOR_OFFER, Step.NOTHING);
            // what was answered before is not in use at either end, so nothing has come over it
            case FENCED, ANSWERED -> offered.answer();
            case LOST -> throw new AssertionError("refused above");
        };
    }

    /** All paths are fenced. */
    public ReceiverResume fenced(long receivedNow) {
        ReceiverResume counted =
                new ReceiverResume(state, Step.NOTHING, epoch, attempt, begun, confirmed, receivedNow, lost);
        return switch (state) {
            case FENCING -> counted.to(State.FENCED, Step.NOTIFY);
            case FENCING_FOR_OFFER -> counted.answer();
            case UP, FENCED, ANSWERED, LOST -> nothing();
        };
    }

    private ReceiverResume answer() {
        return confirmed > received || received > begun ? losing(LostReason.MISCOUNT) : to(State.ANSWERED, Step.ANSWER);
    }

    /** The sender says that it is ready. */
    public ReceiverResume ready(int ofAttempt) {
        return state == State.ANSWERED && ofAttempt == attempt
                ? new ReceiverResume(State.UP, Step.GO_ON, attempt, attempt, begun, confirmed, received, lost)
                : nothing();
    }

    private ReceiverResume losing(LostReason why) {
        return new ReceiverResume(State.LOST, Step.LOSE, epoch, attempt, begun, confirmed, received, why);
    }

    private ReceiverResume nothing() {
        return to(state, Step.NOTHING);
    }

    private ReceiverResume to(State next, Step toDo) {
        return new ReceiverResume(next, toDo, epoch, attempt, begun, confirmed, received, lost);
    }
}
