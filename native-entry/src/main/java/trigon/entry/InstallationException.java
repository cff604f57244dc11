package trigon.entry;

/** Trigon's own files do not fit together or are incomplete. The message says what to do. */
final class InstallationException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    InstallationException(String message) {
        super(message);
    }
}
