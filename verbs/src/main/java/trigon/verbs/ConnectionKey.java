package trigon.verbs;

import java.security.MessageDigest;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A secret of the two ends of one connection, for devices that can have their peer prove that it knows it. Immutable;
 * compared in constant time, and never printed.
 */
public final class ConnectionKey {

    /** Length in bytes. */
    public static final int BYTES = 32;

    private final byte[] bytes;

    private ConnectionKey(byte[] bytes) {
        this.bytes = bytes;
    }

    /**
     * A key of a copy of these bytes.
     *
     * @throws IllegalArgumentException if they are not {@value #BYTES}
     */
    public static ConnectionKey of(byte... bytes) {
        if (bytes.length != BYTES) {
            throw new IllegalArgumentException(
                    "a connection's key has %d bytes, not %d".formatted(BYTES, bytes.length));
        }
        return new ConnectionKey(bytes.clone());
    }

    /** A copy. */
    public byte[] toArray() {
        return bytes.clone();
    }

    /** Takes as long for any two. */
    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof ConnectionKey key && MessageDigest.isEqual(bytes, key.bytes);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes);
    }

    /** Without the key, so that no log has it. */
    @Override
    public String toString() {
        return "a connection's key, not shown";
    }
}
