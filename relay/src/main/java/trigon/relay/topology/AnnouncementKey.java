package trigon.relay.topology;

import java.nio.charset.StandardCharsets;
import java.security.InvalidKeyException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Optional;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import trigon.config.cluster.ClusterKey;

/**
 * Proves records. With the cluster key, nobody else can make one; without it, anybody can: then the proof is a
 * checksum, and the announcements are a hint that a stranger can forge. One thread at a time.
 */
public final class AnnouncementKey {

    static final int PROOF_BYTES = 16;

    private static final String ALGORITHM = "HmacSHA256";
    private static final byte[] LABEL = "trigon topology 1".getBytes(StandardCharsets.US_ASCII);

    private final Mac mac;
    private final boolean secret;

    /** From the cluster key, if there is one. */
    public AnnouncementKey(Optional<ClusterKey> clusterKey) {
        secret = clusterKey.isPresent();
        byte[] key = clusterKey.map(ClusterKey::bytes).orElse(LABEL);
        try {
            mac = Mac.getInstance(ALGORITHM);
            mac.init(new SecretKeySpec(key, ALGORITHM));
            mac.init(new SecretKeySpec(mac.doFinal(LABEL), ALGORITHM));
        } catch (NoSuchAlgorithmException | InvalidKeyException e) {
            throw new AssertionError("every Java runtime has " + ALGORITHM, e);
        }
    }

    /** Returns whether a proof shows that a record is of this cluster; else anybody can have made it. */
    boolean isSecret() {
        return secret;
    }

    byte[] prove(byte[] body) {
        return Arrays.copyOf(mac.doFinal(body), PROOF_BYTES);
    }

    boolean isProven(byte[] body, byte[] proof) {
        return MessageDigest.isEqual(prove(body), proof);
    }
}
