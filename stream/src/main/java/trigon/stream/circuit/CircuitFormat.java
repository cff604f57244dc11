package trigon.stream.circuit;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Optional;
import trigon.stream.RefusalCause;

/** Sizes and codes of the three messages. */
public final class CircuitFormat {

    /** "TrgC" */
    static final int MAGIC = 0x54726743;

    static final byte VERSION = 4;

    /** Bytes of the greeting: magic, version, 3 bytes of zero, nonce. */
    public static final int GREETING_BYTES = 24;

    static final int NONCE_BYTES = 16;

    /** Bytes of the request before its hops: magic, version, number of hops, number of proofs, zero, the prologue. */
    public static final int HEADER_BYTES = 12;

    /** Bytes of a hop: 4 or 6, the address in 16 bytes, the port. */
    static final int HOP_BYTES = 19;

    /** Bytes of the reply before its text: 0 for "opened" or 1, the cause's code or 0, length of the text. */
    static final int REPLY_BYTES = 4;

    /** Most relays on a route. The first is who is asked, so the request has as many hops: the others and the end. */
    public static final int MAX_RELAYS = 15;

    /** Proofs of a request: who has no cluster key proves several communicators, of which one will do. */
    public static final int MAX_PROOFS = 8;

    private static final int MAX_TEXT = 400;
    private static final byte OPENED = 0;
    private static final byte REFUSED = 1;

    private CircuitFormat() {}

    /**
     * The first that a relay says on a connection.
     *
     * @param nonce of this connection alone, {@link #NONCE_BYTES} long: what the client proves its key with
     */
    public static byte[] greeting(byte[] nonce) {
        if (nonce.length != NONCE_BYTES) {
            throw new IllegalArgumentException("a nonce has " + NONCE_BYTES + " bytes");
        }
        return ByteBuffer.allocate(GREETING_BYTES)
                .putInt(MAGIC)
                .put(VERSION)
                .put(new byte[3])
                .put(nonce)
                .array();
    }

    /** The flaw of a greeting; empty if it has none. */
    static Optional<String> flaw(byte[] greeting) {
        ByteBuffer buffer = ByteBuffer.wrap(greeting);
        if (buffer.getInt() != MAGIC) {
            return Optional.of("the answer is not from a Trigon relay");
        }
        byte version = buffer.get();
        return version == VERSION
                ? Optional.empty()
                : Optional.of(
                        "the relay speaks version %d of circuits and this node version %d; install the same Trigon"
                                .formatted(version, VERSION));
    }

    /** The reply that the circuit is open. */
    public static byte[] opened() {
        return new byte[] {OPENED, 0, 0, 0};
    }

    /** The reply that it is not. */
    public static byte[] refused(RefusalCause cause, String why) {
        byte[] text = why.getBytes(StandardCharsets.UTF_8);
        int length = Math.min(text.length, MAX_TEXT);
        return ByteBuffer.allocate(REPLY_BYTES + length)
                .put(REFUSED)
                .put(cause.code())
                .putShort((short) length)
                .put(text, 0, length)
                .array();
    }

    /**
     * The bytes of text that follow the first {@link #REPLY_BYTES}; 0 if the circuit is open, -1 if it makes no sense.
     */
    static int textBytes(byte[] reply) {
        int length = ByteBuffer.wrap(reply).getShort(2);
        if (reply[0] == OPENED) {
            return length == 0 ? 0 : -1;
        }
        return reply[0] == REFUSED && length > 0 && length <= MAX_TEXT ? length : -1;
    }

    /** The cause in the reply that a circuit is not open; empty if it makes no sense. */
    static Optional<RefusalCause> cause(byte[] reply) {
        return RefusalCause.of(reply[1]);
    }

    static void putHop(ByteBuffer into, InetSocketAddress hop) {
        byte[] address = hop.getAddress().getAddress();
        into.put((byte) (address.length == 4 ? 4 : 6)).put(address).put(new byte[16 - address.length]);
        into.putShort((short) hop.getPort());
    }

    /** Reads a hop; empty if it is none. */
    static Optional<InetSocketAddress> hop(ByteBuffer from) {
        byte family = from.get();
        byte[] address = new byte[16];
        from.get(address);
        int port = Short.toUnsignedInt(from.getShort());
        if ((family != 4 && family != 6) || port == 0) {
            return Optional.empty();
        }
        try {
            byte[] exact = family == 4 ? Arrays.copyOf(address, 4) : address;
            return Optional.of(new InetSocketAddress(InetAddress.getByAddress(exact), port));
        } catch (UnknownHostException e) {
            throw new AssertionError("4 or 16 bytes are an address", e);
        }
    }
}
