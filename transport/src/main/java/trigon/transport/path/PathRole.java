package trigon.transport.path;

/** Which end of a session a path belongs to: messages go one way. */
public enum PathRole {
    SENDER,
    RECEIVER;

    @Override
    public String toString() {
        return this == SENDER ? "sender" : "receiver";
    }
}
