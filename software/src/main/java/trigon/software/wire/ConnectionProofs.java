package trigon.software.wire;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;
import trigon.verbs.ConnectionKey;
import trigon.verbs.Gid;

/**
 * The proofs of the two ends of a data connection, by the key that their queue pairs were given: HMAC-SHA256
 * over what was said so far, and the accepting port's GID. Each end has a label of its own, so no proof is good for the
 * other direction; both ends' nonces are in what was said, so none is good twice.
 *
 * <p>Without a key a proof is {@link #BYTES} zeros, which prove nothing; an end that has a key does not take them, nor
 * does one without a key take anything else. Immutable.
 */
public final class ConnectionProofs {

    static final int BYTES = 32;

    private static final String HMAC = "HmacSHA256";
    private static final byte[] CONNECTING = label("Trigon data 4, connecting side");
    private static final byte[] ACCEPTING = label("Trigon data 4, accepting side");

    private final @Nullable ConnectionKey key;

    /** By that key; by none, for queue pairs without one. */
    public ConnectionProofs(@Nullable ConnectionKey key) {
        this.key = key;
    }

    /** Returns whether there is anything to be proven. */
    public boolean areAskedFor() {
        return key != null;
    }

    /** The proof of who connects, over the greeting and the preamble up to the proof. */
    byte[] ofConnecting(byte[] said, Gid accepting) {
        return proof(CONNECTING, said, said.length - BYTES, accepting);
    }

    /** The proof of who accepts, over the greeting and all of the preamble. */
    byte[] ofAccepting(byte[] said, Gid accepting) {
        return proof(ACCEPTING, said, said.length, accepting);
    }

    /** Takes as long for any two. */
    static boolean areEqual(byte[] one, byte[] other) {
        return MessageDigest.isEqual(one, other);
    }

    private byte[] proof(byte[] label, byte[] said, int length, Gid accepting) {
        if (key == null) {
            return new byte[BYTES];
        }
        try {
            Mac mac = Mac.getInstance(HMAC);
            mac.init(new SecretKeySpec(key.toArray(), HMAC));
            mac.update(label);
            mac.update(accepting.toBytes());
            mac.update(said, 0, length);
            return mac.doFinal();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(
                    "this Java runtime lacks %s, which software links need; use the runtime that comes with Trigon"
                            .formatted(HMAC),
                    e);
        }
    }

    private static byte[] label(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }
}
