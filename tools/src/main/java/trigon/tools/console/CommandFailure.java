package trigon.tools.console;

/** Failure that ends a command, in the user's words: the program says its message and ends with 1. */
public final class CommandFailure extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /** Makes a failure of a text that says what failed, on what, why, and what to do. */
    public CommandFailure(String message) {
        super(message);
    }
}
