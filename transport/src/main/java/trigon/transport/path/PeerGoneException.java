package trigon.transport.path;

/** Why a queue pair is taken to the error state: its peer will not answer any more. */
final class PeerGoneException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    PeerGoneException(String message) {
        super(message);
    }
}
