package trigon.relay.topology;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import trigon.system.InterfaceAddress;
import trigon.system.PrintableText;

/**
 * Records as bytes, and datagrams of several. In network order: "TrgT", version, number of records, two zeros; then for
 * each its length in 2 bytes, the record, its proof.
 */
final class RecordCodec {

    private static final int MAGIC = 0x54726754;
    private static final byte VERSION = 4;
    private static final int HEADER_BYTES = 8;

    /** Bytes that are to fit into one packet of Ethernet. */
    private static final int FULL_BYTES = 1200;

    /** Bound on a record: 16 links of IPv6 with 8 neighbours each take 2.6 KB. */
    static final int MAX_RECORD_BYTES = 3000;

    // beside the number of neighbours
    private static final int CROWDED = 0x80;
    private static final int RDMA = 0x40;

    private static final int FIXED_BYTES = 4 * Long.BYTES + Integer.BYTES + 3;

    /** A record as it goes from node to node: bytes and proof are its maker's. */
    @SuppressWarnings("ArrayRecordComponent") // compared by isSame
    record Sealed(byte[] body, byte[] proof) {

        long instance() {
            return ByteBuffer.wrap(body).getLong(0);
        }

        long sequence() {
            return ByteBuffer.wrap(body).getLong(Long.BYTES);
        }

        boolean isSame(Sealed other) {
            return Arrays.equals(body, other.body) && Arrays.equals(proof, other.proof);
        }

        int length() {
            return Short.BYTES + body.length + proof.length;
        }
    }

    private RecordCodec() {}

    static Sealed seal(NodeRecord record, AnnouncementKey key) {
        byte[] body = encode(record);
        return new Sealed(body, key.prove(body));
    }

    private static byte[] encode(NodeRecord record) {
        ByteBuffer buffer = ByteBuffer.allocate(MAX_RECORD_BYTES);
        buffer.putLong(record.instance())
                .putLong(record.sequence())
                .putLong(record.epochSeconds())
                .putLong(record.node())
                .putInt(record.loadMbps());
        buffer.put((byte) record.call());
        byte[] name = record.name().getBytes(StandardCharsets.UTF_8);
        int length = Math.min(name.length, NodeRecord.MAX_NAME);
        buffer.put((byte) length).put(name, 0, length);
        buffer.put((byte) record.links().size());
        for (LinkRecord link : record.links()) {
            byte[] address = link.address().address().getAddress();
            buffer.put((byte) address.length)
                    .put(address)
                    .put((byte) link.address().prefixLength())
                    .putShort((short) link.relayPort())
                    .putInt(link.speedMbps())
                    .put((byte) (link.neighbours().size() | (link.crowded() ? CROWDED : 0) | (link.rdma() ? RDMA : 0)));
            link.neighbours().forEach(neighbour -> buffer.put(neighbour.getAddress()));
        }
        return Arrays.copyOf(buffer.array(), buffer.position());
    }

    /** Reads a record; empty if it is none. */
    static Optional<NodeRecord> decode(byte[] body) {
        try {
            ByteBuffer buffer = ByteBuffer.wrap(body);
            long instance = buffer.getLong();
            long sequence = buffer.getLong();
            long epochSeconds = buffer.getLong();
            long node = buffer.getLong();
            int load = buffer.getInt();
            int call = buffer.get();
            byte[] name = new byte[Math.clamp(buffer.get(), 0, NodeRecord.MAX_NAME)];
            buffer.get(name);
            int count = buffer.get();
            boolean sane = count >= 0 && count <= NodeRecord.MAX_LINKS && load >= 0;
            if (!sane || call < 0 || call > Calls.MAX) {
                return Optional.empty();
            }
            List<LinkRecord> links = new ArrayList<>(count);
            for (int i = 0; i < count; i++) {
                links.add(link(buffer));
            }
            String text = PrintableText.of(new String(name, StandardCharsets.UTF_8));
            return buffer.hasRemaining()
                    ? Optional.empty()
                    : Optional.of(new NodeRecord(instance, sequence, epochSeconds, node, text, load, call, links));
        } catch (BufferUnderflowException | IllegalArgumentException _) {
            return Optional.empty();
        }
    }

    private static LinkRecord link(ByteBuffer buffer) {
        int length = buffer.get();
        if (length != 4 && length != 16) {
            throw new IllegalArgumentException("no address has " + length + " bytes");
        }
        InetAddress address = address(buffer, length);
        int prefix = Byte.toUnsignedInt(buffer.get());
        int port = Short.toUnsignedInt(buffer.getShort());
        int speed = Math.max(0, buffer.getInt());
        int neighbours = Byte.toUnsignedInt(buffer.get());
        List<InetAddress> heard = new ArrayList<>();
        for (int i = 0; i < (neighbours & ~(CROWDED | RDMA)); i++) {
            heard.add(address(buffer, length));
        }
        return new LinkRecord(
                new InterfaceAddress(address, prefix),
                port,
                speed,
                (neighbours & RDMA) != 0,
                heard,
                (neighbours & CROWDED) != 0);
    }

    private static InetAddress address(ByteBuffer buffer, int length) {
        byte[] bytes = new byte[length];
        buffer.get(bytes);
        try {
            return InetAddress.getByAddress(bytes);
        } catch (UnknownHostException e) {
            throw new AssertionError("4 or 16 bytes are an address", e);
        }
    }

    /** Datagrams with all of them, in their order. */
    static List<byte[]> pack(List<Sealed> records) {
        List<byte[]> datagrams = new ArrayList<>();
        int from = 0;
        while (from < records.size()) {
            int to = from;
            int bytes = HEADER_BYTES;
            while (to < records.size()
                    && to - from < Byte.MAX_VALUE
                    && (to == from || bytes + records.get(to).length() <= FULL_BYTES)) {
                bytes += records.get(to).length();
                to++;
            }
            ByteBuffer datagram = ByteBuffer.allocate(bytes);
            datagram.putInt(MAGIC).put(VERSION).put((byte) (to - from)).putShort((short) 0);
            for (Sealed record : records.subList(from, to)) {
                datagram.putShort((short) record.body.length).put(record.body).put(record.proof);
            }
            datagrams.add(datagram.array());
            from = to;
        }
        return datagrams;
    }

    /** Returns whether a datagram is one of another version, whose records are written otherwise. */
    static boolean isOfOtherVersion(ByteBuffer datagram) {
        int at = datagram.position();
        return datagram.remaining() >= HEADER_BYTES
                && datagram.getInt(at) == MAGIC
                && datagram.get(at + Integer.BYTES) != VERSION;
    }

    /** The records of a datagram; none if it is not ours, or damaged. Nothing is proven yet. */
    static List<Sealed> unpack(ByteBuffer datagram) {
        if (datagram.remaining() < HEADER_BYTES || datagram.getInt() != MAGIC || datagram.get() != VERSION) {
            return List.of();
        }
        int count = datagram.get();
        datagram.getShort();
        List<Sealed> records = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int length = datagram.remaining() < Short.BYTES ? -1 : Short.toUnsignedInt(datagram.getShort());
            boolean sane = length >= FIXED_BYTES && length <= MAX_RECORD_BYTES;
            if (!sane || datagram.remaining() < length + AnnouncementKey.PROOF_BYTES) {
                return List.of();
            }
            byte[] body = new byte[length];
            byte[] proof = new byte[AnnouncementKey.PROOF_BYTES];
            datagram.get(body).get(proof);
            records.add(new Sealed(body, proof));
        }
        return datagram.hasRemaining() ? List.of() : records;
    }
}
