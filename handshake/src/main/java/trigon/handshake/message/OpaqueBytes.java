package trigon.handshake.message;

import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Bytes that mean nothing but themselves: secrets, nonces, proofs. Immutable; compared in constant time, and never
 * printed.
 */
public final class OpaqueBytes {

    /** Thread-safe. */
    static final SecureRandom RANDOM = new SecureRandom();

    private final byte[] bytes;

    private OpaqueBytes(byte[] bytes) {
        this.bytes = bytes;
    }

    /** A copy of these bytes. */
    public static OpaqueBytes of(byte... bytes) {
        return new OpaqueBytes(bytes.clone());
    }

    /** So many random ones. Thread-safe. */
    public static OpaqueBytes random(int length) {
        byte[] bytes = new byte[length];
        RANDOM.nextBytes(bytes);
        return new OpaqueBytes(bytes);
    }

    public int length() {
        return bytes.length;
    }

    /** A copy. */
    byte[] toArray() {
        return bytes.clone();
    }

    /** Takes as long for any two of one length, so that no one learns by trial how many bytes were right. */
    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof OpaqueBytes opaque && MessageDigest.isEqual(bytes, opaque.bytes);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes);
    }

    /** Tells how many there are, and none of them. */
    @Override
    public String toString() {
        return bytes.length + " bytes, not shown";
    }
}
