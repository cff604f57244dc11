package trigon.software.memory;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import trigon.system.Memory;

/**
 * Puts an arriving message into its destination so that a CPU or GPU which polls the destination never sees a flag
 * before the data that the flag announces, as NCCL's LL and LL128 protocols expect of an RDMA NIC.
 *
 * <p>Apart from unaligned edges the destination is written in aligned words of 8 bytes, each by one store, when all of
 * it has arrived, wherever the stream was cut. The last word of each line of 128 bytes, and the last word of the
 * message, are ordered after everything before them. The source may be changed meanwhile.
 *
 * <p>What is {@linkplain #next read in place} instead is in no order, as with NCCL's sockets. That is the inner part of
 * pieces that are longer than messages of LL; LL128 is not chosen by NCCL for devices without a place on the PCI bus.
 */
public final class OrderedCopy {

    /** Bytes of a line of LL128, of which the last 8 are the flag. */
    public static final int LINE = 128;

    private static final int WORD = Long.BYTES;
    private static final int WORDS_OF_LINE = LINE / WORD;
    private static final long LAST_WORD_OF_LINE = LINE - WORD;

    /** Words of a block that is copied at once, and the fewest for which that pays. */
    private static final int BLOCK_WORDS = 256;

    private static final int LEAST_BULK_WORDS = 32;

    private final long[] heldWords = new long[BLOCK_WORDS / WORDS_OF_LINE + 2];
    private final long[] blockWords = new long[BLOCK_WORDS];
    private final MemorySegment block = MemorySegment.ofArray(blockWords);
    private long destination;
    private long remaining;
    private long carry;
    private int carried;

    /**
     * Begins a message, or a piece of one.
     *
     * @param destination address of its first byte
     * @param length in bytes
     */
    public void start(long destination, long length) {
        this.destination = destination;
        remaining = length;
        carried = 0;
        carry = 0;
    }

    /** The next bytes of the message; no more in all than its length. */
    public void accept(long source, int bytes) {
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

    /**
     * Where the next byte is to go, for somebody else who puts it there and then {@linkplain #skip says so}. What comes
     * that way is in no order.
     */
    public long next() {
        if (carried > 0) {
            long left = remaining - carried;
            putCarriedBytes();
            remaining = left;
        }
        return destination;
    }

    /** So many bytes are where they belong. */
    public void skip(int bytes) {
        destination += bytes;
        remaining -= bytes;
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
        long from = source;
        int left = words;
        while (left >= LEAST_BULK_WORDS) {
            int block = Math.min(left, BLOCK_WORDS);
            putBlock(from, block);
            from += (long) block * WORD;
            left -= block;
        }
        putWordByWord(from, left);
    }

    /**
     * By way of an array, wherever the source lies, which is fast before the loops are compiled, too: there the last
     * words of lines change places with what the destination has, the array is copied in whatever order but in whole
     * words, and then the last words follow in theirs.
     */
    private void putBlock(long source, int words) {
        long bytes = (long) words * WORD;
        boolean ends = bytes == remaining / WORD * WORD;
        int firstHeld = (int) (LAST_WORD_OF_LINE - (destination & (LINE - 1))) / WORD;
        int last = words - 1;
        boolean holdsLast = ends && ((destination + (long) last * WORD) & (LINE - 1)) != LAST_WORD_OF_LINE;
        Memory.copy(source, block, bytes);
        int held = 0;
        for (int at = firstHeld; at < words; at += WORDS_OF_LINE) {
            hold(held++, at);
        }
        if (holdsLast) {
            hold(held, last);
        }
        Memory.copy(block, destination, bytes);
        int shown = 0;
        for (int at = firstHeld; at < words; at += WORDS_OF_LINE) {
            show(shown++, at);
        }
        if (holdsLast) {
            show(shown, last);
        }
        destination += bytes;
        remaining -= bytes;
    }

    private void hold(int index, int at) {
        heldWords[index] = blockWords[at];
        blockWords[at] = Memory.getLong(destination + (long) at * WORD);
    }

    private void show(int index, int at) {
        VarHandle.storeStoreFence();
        Memory.putLongOpaque(destination + (long) at * WORD, heldWords[index]);
    }

    private void putWordByWord(long source, int words) {
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

    /**
     * The message ends, or is gone on with, inside a word: its bytes one by one, those behind it are not ours to
     * write.
     */
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
