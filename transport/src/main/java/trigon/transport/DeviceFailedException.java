package trigon.transport;

/** Why a queue pair is taken to the error state: its own device has reported that it is unusable. */
final class DeviceFailedException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    DeviceFailedException(String message) {
        super(message);
    }
}
