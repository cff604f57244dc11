package trigon.routing.table;

/**
 * A peer cannot be reached. The message is meant for the user: it names both ends' addresses, says for each local link
 * why it is no path, and what to do.
 */
public final class NoPathException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final boolean down;

    /** With links that were all up at init. */
    public NoPathException(String message) {
        this(message, false);
    }

    /**
     * With what may be the reason.
     *
     * @param down whether this node had links at init that were down
     */
    public NoPathException(String message, boolean down) {
        super(message);
        this.down = down;
    }

    /** Returns whether links of this node were down at init: then settings need not be at fault. */
    public boolean wereLinksDown() {
        return down;
    }
}
