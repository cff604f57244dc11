package trigon.stream.hop;

import java.nio.ByteBuffer;
import java.util.Optional;
import trigon.verbs.Gid;
import trigon.verbs.Mtu;
import trigon.verbs.QueuePairEndpoint;

/**
 * The word of one side of a hop to the other: that the bytes stay on the TCP connection, or where to send chunks. On
 * the wire {@value #BYTES} bytes in network order.
 */
sealed interface HopOffer {

    int BYTES = 44;

    /** "TrgH" */
    int MAGIC = 0x54726748;

    byte VERSION = 1;

    /** The bytes stay where they are. */
    record Stay() implements HopOffer {}

    /**
     * Chunks can be received.
     *
     * @param endpoint the queue pair that receives them
     * @param slots what they are received into
     */
    record Chunks(QueuePairEndpoint endpoint, SlotGeometry slots) implements HopOffer {}

    /** The bytes to send. */
    default byte[] encode() {
        ByteBuffer buffer = ByteBuffer.allocate(BYTES).putInt(MAGIC).put(VERSION);
        switch (this) {
            case Stay() -> buffer.put(Carrier.TCP.code());
            case Chunks(QueuePairEndpoint endpoint, SlotGeometry slots) ->
                buffer.put(Carrier.RDMA.code())
                        .putShort((short) slots.slots())
                        .putInt(slots.slotBytes())
                        .putInt(endpoint.number())
                        .putInt(endpoint.psn())
                        .putInt(endpoint.mtu().bytes())
                        .putInt(endpoint.lid())
                        .putLong(endpoint.gid().high())
                        .putLong(endpoint.gid().low());
        }
        return buffer.array();
    }

    /** Reads one; empty if it is none of this version. */
    static Optional<HopOffer> decode(byte[] bytes) {
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        if (buffer.getInt() != MAGIC || buffer.get() != VERSION) {
            return Optional.empty();
        }
        int carrier = buffer.get();
        if (carrier == Carrier.TCP.code()) {
            return Optional.of(new Stay());
        }
        return carrier == Carrier.RDMA.code() ? chunks(buffer) : Optional.empty();
    }

    private static Optional<HopOffer> chunks(ByteBuffer buffer) {
        int slots = buffer.getShort();
        int slotBytes = buffer.getInt();
        int number = buffer.getInt();
        int psn = buffer.getInt();
        Optional<Mtu> mtu = mtu(buffer.getInt());
        int lid = buffer.getInt();
        Gid gid = new Gid(buffer.getLong(), buffer.getLong());
        boolean fits = number >>> 24 == 0 && psn >>> 24 == 0 && lid >>> 16 == 0;
        return mtu.isPresent() && fits && SlotGeometry.isSane(slots, slotBytes)
                ? Optional.of(new Chunks(
                        new QueuePairEndpoint(number, psn, gid, lid, mtu.get()), new SlotGeometry(slots, slotBytes)))
                : Optional.empty();
    }

    private static Optional<Mtu> mtu(int bytes) {
        for (Mtu mtu : Mtu.values()) {
            if (mtu.bytes() == bytes) {
                return Optional.of(mtu);
            }
        }
        return Optional.empty();
    }
}
