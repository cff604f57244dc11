package trigon.handshake;

import java.security.SecureRandom;
import java.util.HexFormat;

/**
 * Names one connection to be: made by the listening side, carried in its {@link ListenHandle}, shown by the connecting
 * side in its offer. 128 random bits, so that nobody offers by chance or by guessing.
 *
 * @param high the first 8 bytes, in network order
 * @param low the last 8 bytes
 */
public record ConnectionId(long high, long low) {

    private static final SecureRandom RANDOM = new SecureRandom();

    /** A new one. Thread-safe. */
    public static ConnectionId random() {
        return new ConnectionId(RANDOM.nextLong(), RANDOM.nextLong());
    }

    /** The first 8 hexadecimal digits: enough to tell connections apart in a log, too little to offer with. */
    @Override
    public String toString() {
        return HexFormat.of().toHexDigits(high).substring(0, 8);
    }
}
