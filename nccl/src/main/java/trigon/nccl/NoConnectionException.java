package trigon.nccl;

/**
 * Every path to a peer was tried, here or at the other end, and none came up. The message tells what each of them
 * failed with.
 */
public final class NoConnectionException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final StringBuilder message;

    /**
     * Nothing has been tried yet.
     *
     * @param peer who is to be reached
     * @param paths how many lead there
     */
    public NoConnectionException(String peer, int paths) {
        super("no connection to " + peer);
        message = new StringBuilder("no connection to ")
                .append(peer)
                .append(": ")
                .append(paths == 1 ? "its only path" : "all of its " + paths + " paths")
                .append(" failed");
    }

    /** The peer has said that it will not connect, and why. */
    public NoConnectionException(String why) {
        super(why);
        message = new StringBuilder(why);
    }

    /** One path has failed; its name is for the message. */
    public void add(Object path, Exception failure) {
        message.append("; ").append(path).append(": ").append(failure.getMessage());
        addSuppressed(failure);
    }

    @Override
    public String getMessage() {
        return message.toString();
    }
}
