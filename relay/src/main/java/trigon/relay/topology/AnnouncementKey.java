package trigon.relay.topology;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.InvalidKeyException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Optional;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import trigon.config.cluster.ClusterKey;
import trigon.stream.circuit.JobKeys;

/**
 * Proves records. With the cluster key, nobody else can make one. Without it, anybody can: the proof is a checksum, and
 * such announcements are hints that a stranger can forge; but behind it is one by the key of the job, which only
 * members can make. One thread at a time.
 */
public final class AnnouncementKey {

    /** Length of the whole: the cluster's proof, the id of the job's key, and the job's proof. */
    static final int PROOF_BYTES = 40;

    private static final int MAC_BYTES = 16;
    private static final String ALGORITHM = "HmacSHA256";
    private static final String LABEL = "trigon topology 1";

    /** The possible makers of a record, by its proofs. */
    enum Maker {
        /** Nobody has looked. */
        UNTOLD,
        /** A process with another cluster key; one that has none, where there is one here; or the reverse. */
        STRANGER,
        ANYBODY,
        /** Whoever has the cluster key, or a key of this process's job. */
        MEMBER
    }

    private final Mac mac;
    private final boolean secret;
    private final Optional<JobKeys> job;

    /** From the cluster key, if there is one, for a process that knows no other of its job. */
    public AnnouncementKey(Optional<ClusterKey> clusterKey) {
        this(clusterKey, Optional.empty());
    }

    /** The same with the keys of a job, which count where there is no cluster key. */
    public AnnouncementKey(Optional<ClusterKey> clusterKey, JobKeys job) {
        this(clusterKey, Optional.of(job).filter(_ -> clusterKey.isEmpty()));
    }

    private AnnouncementKey(Optional<ClusterKey> clusterKey, Optional<JobKeys> job) {
        this.job = job;
        secret = clusterKey.isPresent();
        byte[] label = LABEL.getBytes(StandardCharsets.US_ASCII);
        try {
            mac = Mac.getInstance(ALGORITHM);
            mac.init(new SecretKeySpec(clusterKey.map(ClusterKey::bytes).orElse(label), ALGORITHM));
            mac.init(new SecretKeySpec(mac.doFinal(label), ALGORITHM));
        } catch (NoSuchAlgorithmException | InvalidKeyException e) {
            throw unavailable(e);
        }
    }

    /** Returns whether it is the cluster key that proves records. */
    boolean isClusterKey() {
        return secret;
    }

    /** Returns whether others can prove records to this process: with the cluster key, or as members of its job. */
    boolean isShared() {
        return secret || job.filter(JobKeys::isShared).isPresent();
    }

    byte[] prove(byte[] body) {
        ByteBuffer proof = ByteBuffer.allocate(PROOF_BYTES).put(mac.doFinal(body), 0, MAC_BYTES);
        job.map(JobKeys::current).ifPresent(key -> proof.putLong(key.id()).put(proofBy(key, body)));
        return proof.array();
    }

    /** Tells who can have made a record. */
    Maker maker(byte[] body, byte[] proof) {
        if (secret) {
            return MessageDigest.isEqual(prove(body), proof) ? Maker.MEMBER : Maker.STRANGER;
        }
        ByteBuffer parts = ByteBuffer.wrap(proof);
        byte[] ofCluster = new byte[MAC_BYTES];
        parts.get(ofCluster);
        if (!MessageDigest.isEqual(ofCluster, Arrays.copyOf(mac.doFinal(body), MAC_BYTES))) {
            return Maker.STRANGER;
        }
        long id = parts.getLong();
        byte[] ofJob = new byte[MAC_BYTES];
        parts.get(ofJob);
        return job.flatMap(keys -> keys.valid(id))
                .filter(key -> MessageDigest.isEqual(ofJob, proofBy(key, body)))
                .map(_ -> Maker.MEMBER)
                .orElse(Maker.ANYBODY);
    }

    private static byte[] proofBy(JobKeys.Key key, byte[] body) {
        try {
            Mac ofJob = Mac.getInstance(ALGORITHM);
            ofJob.init(new SecretKeySpec(key.derive(LABEL), ALGORITHM));
            return Arrays.copyOf(ofJob.doFinal(body), MAC_BYTES);
        } catch (NoSuchAlgorithmException | InvalidKeyException e) {
            throw unavailable(e);
        }
    }

    private static AssertionError unavailable(Exception cause) {
        return new AssertionError("every Java runtime has " + ALGORITHM, cause);
    }
}
