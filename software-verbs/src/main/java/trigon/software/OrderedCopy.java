package trigon.software;

import java.lang.invoke.VarHandle;
import trigon.verbs.Memory;

/**
 * Puts an arriving message into its destination so that a CPU or GPU which polls the destination never sees a flag
 * before the data that the flag announces, as NCCL's LL and LL128 protocols expect of an RDMA NIC.
 *
 * <p>The destination is written in ascending order and, apart from unaligned edges, in aligned words of 8 bytes, each
 * by one store. A word is written once, when all of it has arrived, wherever the stream was cut. The last word of each
 * line of 128 bytes, and the last word of the message, are ordered after everything before them.
 */
final class OrderedCopy {

    /** Bytes of a line of LL128, of which the last 8 are the flag. */
    static final int LINE = 128;

    private static final int WORD = Long.BYTES;
    private static final long LAST_WORD_OF_LINE = LINE - WORD;

    private long destination;
    private long remaining;
    private long carry;
    private int carried;

    /** Begins a message. */
    void start(long destination, long length) {
        this.destination = destination;
        remaining = length;
        carried = 0;
        carry = 0;
    }

    /** The next bytes of the message; no more in all than its length. */
    void accept(long source, int bytes) {
        long from = source;
        int left = bytes;
        while (left > 0 && carried == 0 && (destination & (WORD - 1)) != 0) {
            putEdgeByte(Memory.getByte(from++));
            left--;
        }
        while (left > 0 && carried > 0) {
            carry(Memory.getByte(from++));
            left--;
        }
        int words = left / WORD;
        if (words > 0) {
            putWords(from, words);
            from += (long) words * WORD;
            left -= words * WORD;
        }
        for (; left > 0; left--) {
            carry(Memory.getByte(from++));
        }
        if (carried > 0 && carried == remaining) {
            putCarriedBytes();
        }
    }

    /** The bytes before the first aligned word. */
    private void putEdgeByte(byte value) {
        if (remaining == 1) {
            VarHandle.storeStoreFence();
        }
        Memory.putByte(destination++, value);
        remaining--;
    }

    private void putWords(long source, int words) {
        long to = destination;
        long from = source;
        long last = to + (remaining / WORD - 1) * WORD;
        for (int i = 0; i < words; i++) {
            if ((to & (LINE - 1)) == LAST_WORD_OF_LINE || to == last) {
                VarHandle.storeStoreFence();
            }
            Memory.putLongOpaque(to, Memory.getLong(from));
            to += WORD;
            from += WORD;
        }
        remaining -= to - destination;
        destination = to;
    }

    /** Keeps a byte of a word whose other bytes come later; in memory order, which is little-endian. */
    private void carry(byte value) {
        carry |= Byte.toUnsignedLong(value) << (carried * Byte.SIZE);
        carried++;
        if (carried == WORD) {
            VarHandle.storeStoreFence();
            Memory.putLongOpaque(destination, carry);
            destination += WORD;
            remaining -= WORD;
            carry = 0;
            carried = 0;
        }
    }

    /** The message ends inside a word: its bytes one by one, since those behind it are not ours to write. */
    private void putCarriedBytes() {
        VarHandle.storeStoreFence();
        for (int i = 0; i < carried; i++) {
            Memory.putByte(destination + i, (byte) (carry >>> (i * Byte.SIZE)));
        }
        destination += carried;
        remaining = 0;
        carried = 0;
        carry = 0;
    }
}
