package trigon.transport.path;

/** End of a session that a path belongs to: messages go one way. */
public enum PathRole {
    SENDER,
    RECEIVER;

    @Override
    public String toString() {
        return this == SENDER ? "sender" : "receiver";
    }
}
