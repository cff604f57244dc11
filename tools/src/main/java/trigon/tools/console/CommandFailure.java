package trigon.tools.console;

/** What ends a command, in the user's words: the program says its message and ends with 1. */
public final class CommandFailure extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /** With what failed, on what, why, and what to do. */
    public CommandFailure(String message) {
        super(message);
    }
}
