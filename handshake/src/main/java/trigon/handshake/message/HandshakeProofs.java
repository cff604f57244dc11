package trigon.handshake.message;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Optional;
import javax.crypto.KDF;
import javax.crypto.Mac;
import javax.crypto.SecretKey;
import javax.crypto.spec.HKDFParameterSpec;
import javax.crypto.spec.SecretKeySpec;
import trigon.config.cluster.ClusterKey;
import trigon.handshake.message.HandshakeMessage.JobKey;
import trigon.stream.circuit.JobKeys;
import trigon.verbs.ConnectionKey;

/**
 * One end's knowledge of the connection's secret, to be proven, and of what was said, to be agreed on.
 *
 * <p>Each side has a key of its own, derived by HKDF-SHA256 (RFC 5869) from the connection's secret, salted with the
 * cluster key where there is one. A message's proof is HMAC-SHA256 under its sender's key over all frames of the
 * handshake so far, with their proofs, and its own frame up to the proof. Both sides' nonces are in there, or those of
 * the first handshake of the same TCP connection and the number of the own stream, so no proof is good for another
 * handshake; and since the keys differ, none is good for the other direction.
 *
 * <p>A third key, of neither side's proofs, gives what the ends' queue pairs prove to each other:
 * {@link #connectionKey}. It also hides the {@linkplain JobKeys key of the job} in a message that is proven: the key is
 * added, bit by bit, to an HMAC-SHA256 over all that was said so far, the sender's side and the message's count. No two
 * messages have all of these alike, so each is hidden by bits of its own, which look random to others.
 *
 * <p>Belongs to the event loop. A few microseconds each; the first of a process takes tens of milliseconds, see {@link
 * #warmUp}.
 */
public final class HandshakeProofs {

    /** Length of a nonce, of a proof, and of a cluster's mark. */
    public static final int BYTES = 32;

    /** The mark of a side that has no cluster key. */
    public static final OpaqueBytes NO_CLUSTER = OpaqueBytes.of(new byte[BYTES]);

    public enum Side {
        CONNECTING("Trigon handshake 4, connecting side"),
        LISTENING("Trigon handshake 4, listening side");

        private final String label;

        Side(String label) {
            this.label = label;
        }

        /** The key's purpose, in the words of RFC 5869 the info. */
        private byte[] info() {
            return label.getBytes(StandardCharsets.US_ASCII);
        }

        private Side other() {
            return this == CONNECTING ? LISTENING : CONNECTING;
        }
    }

    /** The first compiler takes what has run 200 times; a proof is four blocks of SHA-256. */
    private static final int PROOFS_UNTIL_COMPILED = 60;

    private static final String HMAC = "HmacSHA256";
    private static final String HKDF = "HKDF-SHA256";
    private static final byte[] DATA_LABEL = "Trigon handshake 4, data".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] JOB_LABEL = "Trigon handshake 4, job".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] CLUSTER_LABEL = "Trigon handshake 4, cluster".getBytes(StandardCharsets.US_ASCII);

    private final Side side;
    private final boolean hasClusterKey;
    private final Mac own;
    private final Mac peers;
    private final Mac data;
    private final ByteArrayOutputStream transcript = new ByteArrayOutputStream(512);

    private HandshakeProofs(Side side, boolean hasClusterKey, Mac own, Mac peers, Mac data) {
        this.side = side;
        this.hasClusterKey = hasClusterKey;
        this.own = own;
        this.peers = peers;
        this.data = data;
    }

    /** The proofs of one side, before anything is said. */
    public static HandshakeProofs of(Side side, ConnectionSecret secret, Optional<ClusterKey> clusterKey) {
        try {
            KDF kdf = KDF.getInstance(HKDF);
            HKDFParameterSpec.Builder extract =
                    HKDFParameterSpec.ofExtract().addIKM(secret.value().toArray());
            clusterKey.ifPresent(key -> extract.addSalt(key.bytes()));
            SecretKey master = kdf.deriveKey("HKDF", extract.extractOnly());
            Mac connecting =
                    mac(kdf.deriveKey(HMAC, HKDFParameterSpec.expandOnly(master, Side.CONNECTING.info(), BYTES)));
            Mac listening =
                    mac(kdf.deriveKey(HMAC, HKDFParameterSpec.expandOnly(master, Side.LISTENING.info(), BYTES)));
            Mac data = mac(kdf.deriveKey(HMAC, HKDFParameterSpec.expandOnly(master, DATA_LABEL, BYTES)));
            boolean connects = side == Side.CONNECTING;
            return new HandshakeProofs(
                    side,
                    clusterKey.isPresent(),
                    connects ? connecting : listening,
                    connects ? listening : connecting,
                    data);
        } catch (GeneralSecurityException e) {
            throw unavailable(e);
        }
    }

    /**
     * Shows that the sender of a Hello has the cluster key, and nothing about the key: a wrong cluster is noticed,
     * and told from a wrong secret, before anything else. A copy of it proves nothing more than that, since proofs
     * follow.
     */
    public static OpaqueBytes clusterMark(Optional<ClusterKey> clusterKey, ConnectionId connection, OpaqueBytes nonce) {
        if (clusterKey.isEmpty()) {
            return NO_CLUSTER;
        }
        try {
            Mac mac = mac(new SecretKeySpec(clusterKey.get().bytes(), HMAC));
            mac.update(CLUSTER_LABEL);
            mac.update(
                    ByteBuffer.allocate(Long.BYTES).putLong(connection.value()).flip());
            return OpaqueBytes.of(mac.doFinal(nonce.toArray()));
        } catch (GeneralSecurityException e) {
            throw unavailable(e);
        }
    }

    /**
     * Loads classes and providers, and makes so many proofs that the JVM compiles SHA-256: interpreted, it is a third
     * of the work of a connection.
     */
    public static void warmUp() {
        HandshakeProofs proofs = of(Side.CONNECTING, ConnectionSecret.random(), Optional.empty());
        for (int proof = 0; proof < PROOFS_UNTIL_COMPILED; proof++) {
            proofs.proveAfterwards(new byte[2 * BYTES]);
        }
    }

    /** Notes a frame that has no proof but is to be agreed on. */
    public void note(byte[] frame) {
        transcript.writeBytes(frame);
    }

    /** All that was said so far. */
    public byte[] said() {
        return transcript.toByteArray();
    }

    /** Fills in the proof at the end of an own frame, and notes it. */
    public void prove(byte[] frame) {
        proveAfterwards(frame);
        transcript.writeBytes(frame);
    }

    /** Returns whether the peer's frame ends with a right proof; notes it then. */
    public boolean verify(byte[] frame) {
        boolean right = verifyAfterwards(frame);
        if (right) {
            transcript.writeBytes(frame);
        }
        return right;
    }

    /** Fills in the proof at the end of an own frame that comes after all that is agreed on, and is no part of it. */
    public void proveAfterwards(byte[] frame) {
        System.arraycopy(proof(own, frame), 0, frame, frame.length - BYTES, BYTES);
    }

    /** Returns whether the peer's frame, one that comes after all that is agreed on, ends with a right proof. */
    public boolean verifyAfterwards(byte[] frame) {
        byte[] proof = new byte[BYTES];
        System.arraycopy(frame, frame.length - BYTES, proof, 0, BYTES);
        return MessageDigest.isEqual(proof, proof(peers, frame));
    }

    /**
     * A key for the queue pairs of this handshake alone: HMAC-SHA256 over all that was said so far, to be asked for by
     * both sides after the same message. It tells nothing about the secret, nor about the proofs.
     */
    public ConnectionKey connectionKey() {
        return ConnectionKey.of(data.doFinal(transcript.toByteArray()));
    }

    /**
     * The key of the job, for a peer that has proven itself, to be proven next; none where there is a cluster key,
     * which serves better.
     *
     * @param count another one each time
     */
    public Optional<JobKey> hide(JobKeys keys, long count) {
        return hasClusterKey
                ? Optional.empty()
                : Optional.of(new JobKey(count, OpaqueBytes.of(masked(side, count, keys.smallest()))));
    }

    /** The key that a peer has told and proven; none where there is a cluster key. */
    public Optional<byte[]> reveal(JobKey told) {
        return hasClusterKey
                ? Optional.empty()
                : Optional.of(masked(side.other(), told.count(), told.hidden().toArray()));
    }

    private byte[] masked(Side sender, long count, byte[] key) {
        data.update(transcript.toByteArray());
        data.update(JOB_LABEL);
        data.update(sender.info());
        byte[] mask =
                data.doFinal(ByteBuffer.allocate(Long.BYTES).putLong(count).array());
        for (int i = 0; i < mask.length; i++) {
            mask[i] ^= key[i];
        }
        return mask;
    }

    private byte[] proof(Mac mac, byte[] frame) {
        mac.update(transcript.toByteArray());
        mac.update(frame, 0, frame.length - BYTES);
        return mac.doFinal();
    }

    private static Mac mac(SecretKey key) throws GeneralSecurityException {
        Mac mac = Mac.getInstance(HMAC);
        mac.init(key);
        return mac;
    }

    private static IllegalStateException unavailable(GeneralSecurityException cause) {
        return new IllegalStateException(
                "this Java runtime lacks %s or %s, which the handshake needs; use the runtime that comes with Trigon"
                        .formatted(HMAC, HKDF),
                cause);
    }
}
