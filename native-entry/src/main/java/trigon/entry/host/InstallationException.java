package trigon.entry.host;

/** Trigon's own files do not fit together or are incomplete. The message says what to do. */
public final class InstallationException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /** With what is wrong, and what to do. */
    public InstallationException(String message) {
        super(message);
    }
}
