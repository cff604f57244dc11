package trigon.transport.path;

/** Why a queue pair is taken to the error state: this end is of no use any more, whatever the peer does. */
final class GivenUpException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    GivenUpException(String message) {
        super(message);
    }
}
