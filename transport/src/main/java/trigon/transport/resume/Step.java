package trigon.transport.resume;

/** Next step of an end. */
public enum Step {
    /** Nothing, or to wait. */
    NOTHING,

    /** Sender: greet the peer over paths that may lead to it, again and again; say when one of them is answered. */
    PROBE,

    /** Close the gate, take all queue pairs to the error state, take every success, and say what was counted. */
    FENCE,

    /** Receiver: tell the sender that its paths are of no use. */
    NOTIFY,

    /** Sender: offer new paths, with the attempt's number and the counts. */
    OFFER,

    /** Receiver: answer the offer, with new paths that can receive, and the count. */
    ANSWER,

    /** Receiver: refuse the offer, which is older than another one. */
    REFUSE,

    /** Sender: bring its new paths up and say that it is ready. */
    READY,

    /** Go on over the new paths from the message that {@code received} says, and open the gate. */
    GO_ON,

    /** The session has failed; the reason says why. */
    LOSE
}
