package trigon.transport;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.zip.CRC32C;
import trigon.system.Memory;

/**
 * One message of a {@link TrafficStream}. Both ends make it from seed, stream and index, so that nothing that the
 * transport carries has to be trusted. Every 8 bytes are a function of all of these and of their own position.
 *
 * @param stream which stream
 * @param index which of its messages, from 0
 * @param key what the bytes are made of
 * @param size bytes
 * @param slack by how much the receive is longer
 * @param tag NCCL's
 * @param sendOffset of the first byte in the sender's slot; mostly not aligned
 * @param receiveOffset the same in the receiver's
 */
record PlannedMessage(
        int stream, long index, long key, int size, int slack, int tag, int sendOffset, int receiveOffset) {

    /** Bytes of a slot before and after the buffer. */
    static final int MARGIN = 128;

    /** Longest {@link #slack}. */
    static final int MAX_SLACK = 4096;

    private static final ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG_UNALIGNED;

    static PlannedMessage of(long seed, int stream, long index, int longest) {
        SplittableRandom random = new SplittableRandom(seed ^ mix(stream * 0x9E3779B97F4A7C15L + index + 1));
        return new PlannedMessage(
                stream,
                index,
                random.nextLong(),
                size(random, longest),
                random.nextInt(3) == 0 ? random.nextInt(MAX_SLACK) : 0,
                random.nextInt(),
                random.nextInt(4) == 0 ? MARGIN : random.nextInt(MARGIN),
                random.nextInt(4) == 0 ? MARGIN : random.nextInt(MARGIN));
    }

    /** None, a few bytes, around a power of two, or any, the shorter ones more often. */
    private static int size(SplittableRandom random, int longest) {
        int size = switch (random.nextInt(8)) {
            case 0 -> 0;
            case 1 -> random.nextInt(64);
            case 2 -> (1 << random.nextInt(24)) + random.nextInt(-2, 3);
            default -> (int) Math.exp(random.nextDouble() * Math.log(longest + 1.0)) - random.nextInt(2);
        };
        return Math.clamp(size, 0, longest);
    }

    /** Bytes of a slot that holds any message up to that long. */
    static long slotBytes(int longest) {
        return (longest + MAX_SLACK + 2L * MARGIN + 63) / 64 * 64;
    }

    private static long mix(long value) {
        long z = (value ^ (value >>> 30)) * 0xBF58476D1CE4E5B9L;
        z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
        return z ^ (z >>> 31);
    }

    private long word(long position) {
        return mix(key + position);
    }

    /** Fills the memory there with the message's bytes, which follow from its key. */
    void write(long address) {
        MemorySegment to = Memory.segment(address, size);
        int position = 0;
        for (; position <= size - Long.BYTES; position += Long.BYTES) {
            to.set(WORD, position, word(position));
        }
        for (long rest = word(position); position < size; position++, rest >>>= 8) {
            to.set(ValueLayout.JAVA_BYTE, position, (byte) rest);
        }
    }

    /** Whether the bytes there are the message's. */
    boolean isAt(long address) {
        return damaged(address).length == 0;
    }

    /** CRC-32C of the bytes there, of which message they are, and how many. */
    int checksum(long address) {
        CRC32C crc = new CRC32C();
        crc.update(ByteBuffer.allocate(16)
                .putInt(stream)
                .putLong(index)
                .putInt(size)
                .flip());
        crc.update(Memory.segment(address, size).asByteBuffer());
        return (int) crc.getValue();
    }

    /** What is wrong with the bytes there, for a message whose checksum is. */
    String damage(long address) {
        int[] wrong = damaged(address);
        return wrong.length == 0
                ? "the bytes are right, the checksum is not"
                : "%d of %d bytes are wrong, the first at %d, 0x%x"
                        .formatted(wrong.length, size, wrong[0], address + wrong[0]);
    }

    /** Where the bytes there are not the message's. */
    private int[] damaged(long address) {
        MemorySegment got = Memory.segment(address, size);
        return IntStream.range(0, size)
                .filter(i ->
                        got.get(ValueLayout.JAVA_BYTE, i) != (byte) (word(i & -Long.BYTES) >>> (8 * (i % Long.BYTES))))
                .toArray();
    }

    @Override
    public String toString() {
        return "message %d of stream %d (%d bytes, from offset %d to offset %d, receive of %d)"
                .formatted(index, stream, size, sendOffset, receiveOffset, size + slack);
    }
}
