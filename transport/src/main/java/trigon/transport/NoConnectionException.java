package trigon.transport;

import trigon.routing.Path;

/** Every path to a peer was tried, and none came up. The message tells what each of them failed with. */
public final class NoConnectionException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final StringBuilder message;

    NoConnectionException(String peer, int paths) {
        super("no connection to " + peer);
        message = new StringBuilder("no connection to ")
                .append(peer)
                .append(": ")
                .append(paths == 1 ? "its only path" : "all of its " + paths + " paths")
                .append(" failed");
    }

    void add(Path path, Exception failure) {
        message.append("; ").append(path).append(": ").append(failure.getMessage());
        addSuppressed(failure);
    }

    @Override
    public String getMessage() {
        return message.toString();
    }
}
