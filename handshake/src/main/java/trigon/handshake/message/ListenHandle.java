package trigon.handshake.message;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.OptionalInt;
import trigon.handshake.message.HandshakeException.Kind;
import trigon.system.Memory;

/**
 * A listener's message to the connecting side by way of NCCL, which carries these bytes without looking at them.
 *
 * <p>In network order: magic (4 bytes), version (1), flags (1, 0), node index (2), fingerprint of the settings (4),
 * connection (8), its secret (16), number of links (1), number of links left out (1), host (2), then the links; see
 * {@link LinkAddress#write}. The last 8 bytes belong to the connecting side, which keeps its state there between calls.
 *
 * <p>Who can read a handle can connect, unless a cluster key is set: NCCL carries it over its bootstrap, plain TCP.
 *
 * @param connection which one it is
 * @param secret to be proven by both sides
 * @param nodeIndex the listener's index in the cluster's configuration; empty where there is none
 * @param configFingerprint hash of the listener's settings
 * @param links where the listener can be reached
 * @param linksLeftOut how many more links it has, for which there was no room
 * @param host 16 bits by which the listener's network namespace is told apart from others; 0 if they are not known
 */
public record ListenHandle(
        ConnectionId connection,
        ConnectionSecret secret,
        OptionalInt nodeIndex,
        int configFingerprint,
        List<LinkAddress> links,
        int linksLeftOut,
        int host) {

    /** Length in bytes ({@code NCCL_NET_HANDLE_MAXSIZE}). */
    public static final int BYTES = 128;

    /** Offset of the connecting side's own 8 bytes; zero when the listener writes the handle. */
    public static final int PRIVATE_OFFSET = BYTES - Long.BYTES;

    /** "TrgH" */
    static final int MAGIC = 0x54726748;

    static final int VERSION = 4;
    static final int LINKS_OFFSET = 40;
    private static final int MAX_LEFT_OUT = 255;
    private static final int MAX_HOST = 0xFFFF;

    public ListenHandle {
        NodeIdentity.requireIndex(nodeIndex);
        links = List.copyOf(links);
        requireFitting(links);
        if (linksLeftOut < 0 || linksLeftOut > MAX_LEFT_OUT) {
            throw new IllegalArgumentException(linksLeftOut + " links left out is not in 0.." + MAX_LEFT_OUT);
        }
        if (host < 0 || host > MAX_HOST) {
            throw new IllegalArgumentException("host " + host + " is not in 0.." + MAX_HOST);
        }
    }

    /** One of a listener that does not say on which host it is. */
    public ListenHandle(
            ConnectionId connection,
            ConnectionSecret secret,
            OptionalInt nodeIndex,
            int configFingerprint,
            List<LinkAddress> links,
            int linksLeftOut) {
        this(connection, secret, nodeIndex, configFingerprint, links, linksLeftOut, 0);
    }

    /** The same from a listener on that host. */
    public ListenHandle onHost(int number) {
        return new ListenHandle(connection, secret, nodeIndex, configFingerprint, links, linksLeftOut, number);
    }

    /**
     * The handle with as many of the links as there is room for, in their order: 10 of IPv4 or 4 of IPv6. Look at
     * {@link #linksLeftOut} and tell the user if it is not 0.
     */
    public static ListenHandle fitting(
            ConnectionId connection,
            ConnectionSecret secret,
            OptionalInt nodeIndex,
            int configFingerprint,
            List<LinkAddress> links) {
        int room = PRIVATE_OFFSET - LINKS_OFFSET;
        int taken = 0;
        while (taken < links.size() && links.get(taken).encodedBytes() <= room) {
            room -= links.get(taken).encodedBytes();
            taken++;
        }
        int leftOut = Math.min(links.size() - taken, MAX_LEFT_OUT);
        return new ListenHandle(connection, secret, nodeIndex, configFingerprint, links.subList(0, taken), leftOut);
    }

    /** As many of the links as a handle has room for, in their order. */
    public static List<LinkAddress> fitting(List<LinkAddress> links) {
        return fitting(ConnectionId.random(), ConnectionSecret.random(), OptionalInt.empty(), 0, links)
                .links();
    }

    /** Refuses more links than a handle has room for. */
    static void requireFitting(List<LinkAddress> links) {
        int bytes = links.stream().mapToInt(LinkAddress::encodedBytes).sum();
        if (bytes > PRIVATE_OFFSET - LINKS_OFFSET) {
            throw new IllegalArgumentException(links.size() + " links take " + bytes + " bytes, more than the "
                    + (PRIVATE_OFFSET - LINKS_OFFSET) + " there are");
        }
    }

    /** The {@value #BYTES} bytes, the private state zero. */
    public byte[] toBytes() {
        ByteBuffer buffer = ByteBuffer.allocate(BYTES);
        buffer.putInt(MAGIC)
                .put((byte) VERSION)
                .put((byte) 0)
                .putShort((short) NodeIdentity.toWire(nodeIndex))
                .putInt(configFingerprint)
                .putLong(connection.value())
                .put(secret.value().toArray())
                .put((byte) links.size())
                .put((byte) linksLeftOut)
                .putShort((short) host);
        links.forEach(link -> link.write(buffer));
        return buffer.array();
    }

    /** Writes all {@value #BYTES} bytes to native memory. */
    public void writeTo(long address) {
        byte[] bytes = toBytes();
        for (int i = 0; i < BYTES; i++) {
            Memory.putByte(address + i, bytes[i]);
        }
    }

    /**
     * Reads a handle; the private state is not looked at.
     *
     * @throws HandshakeException of kind PROTOCOL if it was not written by this version of Trigon
     */
    public static ListenHandle ofBytes(byte[] bytes) {
        if (bytes.length != BYTES) {
            throw malformed("it has " + bytes.length + " bytes");
        }
        ByteBuffer buffer = ByteBuffer.wrap(bytes, 0, PRIVATE_OFFSET);
        if (buffer.getInt() != MAGIC) {
            throw new HandshakeException(
                    Kind.PROTOCOL,
                    "the peer's listen handle was not made by Trigon: the peer uses another network of NCCL;"
                            + " set NCCL_NET=Trigon on all ranks and see that each of them finds the plugin");
        }
        int version = Byte.toUnsignedInt(buffer.get());
        if (version != VERSION) {
            throw new HandshakeException(
                    Kind.PROTOCOL,
                    ("the peer's listen handle has version %d and this Trigon reads version %d; install the same Trigon"
                                    + " on all nodes, and set NCCL_NET=Trigon on all ranks")
                            .formatted(version, VERSION));
        }
        return ofBody(buffer);
    }

    /** Reads a handle from native memory; see {@link #ofBytes}. */
    public static ListenHandle readFrom(long address) {
        byte[] bytes = new byte[BYTES];
        for (int i = 0; i < BYTES; i++) {
            bytes[i] = Memory.getByte(address + i);
        }
        return ofBytes(bytes);
    }

    /** The connecting side's own 8 bytes of a handle in native memory. */
    public static long privateState(long address) {
        return Memory.getLong(address + PRIVATE_OFFSET);
    }

    /** Sets the connecting side's own 8 bytes of a handle in native memory. */
    public static void setPrivateState(long address, long value) {
        Memory.putLong(address + PRIVATE_OFFSET, value);
    }

    private static ListenHandle ofBody(ByteBuffer buffer) {
        buffer.get(); // flags: none is known, and unknown ones do not change the meaning of the rest
        OptionalInt nodeIndex = NodeIdentity.indexOfWire(Short.toUnsignedInt(buffer.getShort()));
        int fingerprint = buffer.getInt();
        ConnectionId connection = new ConnectionId(buffer.getLong());
        byte[] secret = new byte[ConnectionSecret.BYTES];
        buffer.get(secret);
        int count = Byte.toUnsignedInt(buffer.get());
        int leftOut = Byte.toUnsignedInt(buffer.get());
        int host = Short.toUnsignedInt(buffer.getShort());
        return new ListenHandle(
                connection,
                new ConnectionSecret(OpaqueBytes.of(secret)),
                nodeIndex,
                fingerprint,
                LinkAddress.read(buffer, count),
                leftOut,
                host);
    }

    static HandshakeException malformed(String what) {
        return new HandshakeException(
                Kind.PROTOCOL,
                "the peer's listen handle is damaged: " + what + "; install the same Trigon on all nodes");
    }
}
