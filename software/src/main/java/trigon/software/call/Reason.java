package trigon.software.call;

/** The cause of a queue pair's error state: {@code enum reason}. */
public enum Reason {
    NONE("no reason"),
    ASKED_FOR("as asked for"),
    LOCAL_REQUEST("a request does not fit the local memory regions or the queue pair"),
    CONNECTION_CLOSED("the peer has closed the connection"),
    REFUSED_BY_PEER("the peer refused a request"),
    REFUSED_COMPLETE("the peer refused a SEND that was complete already"),
    BAD_RESPONSE("a response of the peer answers what was not sent, or is of an unknown kind"),
    NO_RECEIVE("the peer posted no receive in time"),
    REFUSED_REQUEST("a request of the peer was refused"),
    ALTERED("a relay has altered a message"),
    NO_ANSWER("no answer in time"),
    NO_CONNECTION("no connection to the peer"),
    OVERRUN("its completion queue overran");

    private final String text;

    Reason(String text) {
        this.text = text;
    }

    /** The reason with that number. */
    public static Reason of(long number) {
        return values()[(int) number];
    }

    @Override
    public String toString() {
        return text;
    }
}
