package trigon.software.wire;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Optional;
import trigon.verbs.Gid;

/**
 * The first exchange of the two ends of a data connection:
 *
 * <pre>
 * connecting side                                                accepting side
 *                                        &lt;──   greeting    nonce
 * preamble   who, to whom, nonce, proof  ──&gt;
 *                                        &lt;──   acceptance  proof
 * requests                               ──&gt;
 * </pre>
 *
 * Each end keeps one of these, with all that was said. Used by one thread at a time; blocks for nothing.
 */
public final class PreambleExchange {

    private static final SecureRandom RANDOM = new SecureRandom();
    private static final int NONCE_BYTES = 32;

    private static final byte UPGRADES = 1;

    private static final int PREAMBLE_AT = WireFormat.GREETING_BYTES;
    private static final int PROOF_AT = PREAMBLE_AT + WireFormat.PREAMBLE_BYTES - ConnectionProofs.BYTES;

    /** Greeting and preamble, as on the wire. */
    private final byte[] said = new byte[WireFormat.GREETING_BYTES + WireFormat.PREAMBLE_BYTES];

    private final ByteBuffer fields = ByteBuffer.wrap(said).order(ByteOrder.LITTLE_ENDIAN);

    private static byte[] nonce() {
        byte[] nonce = new byte[NONCE_BYTES];
        RANDOM.nextBytes(nonce);
        return nonce;
    }

    private void putProtocol(int at) {
        fields.putLong(at, WireFormat.MAGIC);
        fields.putInt(at + 8, WireFormat.VERSION);
    }

    /** Why what begins there is not this protocol; empty if it is. */
    private Optional<String> disagreement(int at) {
        int version = fields.getInt(at + 8);
        if (fields.getLong(at) != WireFormat.MAGIC) {
            return Optional.of("it does not speak this protocol");
        }
        return version == WireFormat.VERSION
                ? Optional.empty()
                : Optional.of("it speaks version " + version + ", this end " + WireFormat.VERSION
                        + "; run the same release of Trigon on all nodes");
    }

    // ---- the accepting side

    /** Begins: a greeting with a fresh nonce, to be sent. */
    public ByteBuffer greet() {
        putProtocol(0);
        fields.put(16, nonce());
        return ByteBuffer.wrap(said, 0, WireFormat.GREETING_BYTES);
    }

    /** The preamble that those bytes are, or why they are none. */
    public Preamble readPreamble(byte[] bytes) {
        fields.put(PREAMBLE_AT, bytes, 0, WireFormat.PREAMBLE_BYTES);
        Optional<String> disagreement = disagreement(PREAMBLE_AT);
        return disagreement.isPresent()
                ? new Preamble.Malformed(disagreement.get())
                : new Preamble.Hello(
                        fields.getInt(PREAMBLE_AT + 12),
                        fields.getInt(PREAMBLE_AT + 16),
                        fields.getInt(PREAMBLE_AT + 20),
                        new Gid(fields.getLong(PREAMBLE_AT + 24), fields.getLong(PREAMBLE_AT + 32)),
                        fields.get(PREAMBLE_AT + 40) == UPGRADES);
    }

    /** Returns whether the preamble ends with a right proof. */
    public boolean isProven(ConnectionProofs proofs, Gid accepting) {
        byte[] proof = Arrays.copyOfRange(said, PROOF_AT, said.length);
        return ConnectionProofs.areEqual(proof, proofs.ofConnecting(said, accepting));
    }

    /** The acceptance of the connecting side, with the proof of this one. */
    public ByteBuffer acceptance(ConnectionProofs proofs, Gid accepting) {
        return ByteBuffer.wrap(proofs.ofAccepting(said, accepting));
    }

    // ---- the connecting side

    /** The buffer for the greeting. */
    public ByteBuffer greetingSpace() {
        return ByteBuffer.wrap(said, 0, WireFormat.GREETING_BYTES);
    }

    /** Why the greeting is none; empty if it is one. */
    public Optional<String> refusal() {
        return disagreement(0);
    }

    /** The answer to the greeting, to be sent. */
    public ByteBuffer answer(Preamble.Hello hello, ConnectionProofs proofs, Gid accepting) {
        putProtocol(PREAMBLE_AT);
        fields.putInt(PREAMBLE_AT + 12, hello.destinationNumber());
        fields.putInt(PREAMBLE_AT + 16, hello.sourceNumber());
        fields.putInt(PREAMBLE_AT + 20, hello.firstPsn());
        fields.putLong(PREAMBLE_AT + 24, hello.source().high());
        fields.putLong(PREAMBLE_AT + 32, hello.source().low());
        fields.put(PREAMBLE_AT + 40, hello.upgrades() ? UPGRADES : 0);
        fields.put(PREAMBLE_AT + 48, nonce());
        fields.put(PROOF_AT, proofs.ofConnecting(said, accepting));
        return ByteBuffer.wrap(said, PREAMBLE_AT, WireFormat.PREAMBLE_BYTES);
    }

    /** Returns whether that acceptance is the one of who was meant. */
    public boolean isAccepted(byte[] acceptance, ConnectionProofs proofs, Gid accepting) {
        return ConnectionProofs.areEqual(acceptance, proofs.ofAccepting(said, accepting));
    }
}
