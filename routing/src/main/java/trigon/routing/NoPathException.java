package trigon.routing;

/**
 * A peer cannot be reached. The message is meant for the user: it names both ends' addresses, says for each local link
 * why it is no path, and what to do.
 */
public final class NoPathException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public NoPathException(String message) {
        super(message);
    }
}
