package trigon.qpstate;

import trigon.qpstate.QueuePairState.Name;

/** A transition was asked for that the state does not allow: a defect of the caller. No verb was called. */
public final class IllegalTransitionException extends IllegalStateException {

    private static final long serialVersionUID = 1L;

    private final Name from;
    private final Name to;

    IllegalTransitionException(String queuePair, Name from, Name to) {
        super("%s cannot go from %s to %s; legal from there: %s"
                .formatted(queuePair, from, to, QueuePairTransition.legalFrom(from)));
        this.from = from;
        this.to = to;
    }

    /** The state it is in, unchanged. */
    public Name from() {
        return from;
    }

    /** The state that was asked for. */
    public Name to() {
        return to;
    }
}
