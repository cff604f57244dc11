package trigon.handshake.message;

/**
 * The secret of the two ends of one connection: made by the listening side, carried in its {@link ListenHandle}, never
 * sent over a link. Both sides prove in the handshake that they know it.
 *
 * @param value {@value #BYTES} random bytes
 */
public record ConnectionSecret(OpaqueBytes value) {

    /** Length in bytes: too many to be guessed. */
    public static final int BYTES = 16;

    public ConnectionSecret {
        if (value.length() != BYTES) {
            throw new IllegalArgumentException(
                    "a connection's secret has %d bytes, not %d".formatted(BYTES, value.length()));
        }
    }

    /** A new one. Thread-safe. */
    public static ConnectionSecret random() {
        return new ConnectionSecret(OpaqueBytes.random(BYTES));
    }
}
