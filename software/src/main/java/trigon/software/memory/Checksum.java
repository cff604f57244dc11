package trigon.software.memory;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;
import trigon.software.wire.WireFormat;
import trigon.system.Memory;

/**
 * CRC32C of requests: of a header, or of a payload in parts. One for each stream, used by one thread at a time;
 * computing allocates nothing.
 */
public final class Checksum {

    private final CRC32C sum = new CRC32C();
    private final ByteBuffer header = Buffers.allocate(WireFormat.CHECKED_HEADER_BYTES);
    private final long headerAddress = MemorySegment.ofBuffer(header).address();

    /** The check of the header that lies at that address, but for its check. What was added is forgotten. */
    public int ofHeader(long at) {
        Memory.copy(at, headerAddress, WireFormat.CHECKED_HEADER_BYTES);
        sum.reset();
        sum.update(header.clear());
        return value();
    }

    /** A payload begins. */
    public void begin() {
        sum.reset();
    }

    /** More of the payload, from the buffer's position to its limit, where the position is then. */
    public void add(ByteBuffer part) {
        sum.update(part);
    }

    /** The check of all that was added since {@link #begin}. */
    public int value() {
        return (int) sum.getValue();
    }
}
