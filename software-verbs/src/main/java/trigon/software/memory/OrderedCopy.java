package trigon.software.memory;

import java.lang.invoke.VarHandle;
import trigon.verbs.Memory;

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
    private static final long LAST_WORD_OF_LINE = LINE - WORD;

    /** Words of a block that is copied at once, and the fewest for which that pays. */
    private static final int BLOCK_WORDS = 1024;

    private static final int LEAST_BULK_WORDS = 32;

    private final long[] heldWords = new long[BLOCK_WORDS * WORD / LINE + 2];
    private long destination;
    private long remaining;
    private long carry;
    private int carried;

    /** Begins a message. */
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
        // a bulk copy moves whole words only where both sides are aligned
        if ((source & (WORD - 1)) == 0) {
            for (; left >= LEAST_BULK_WORDS; left -= Math.min(left, BLOCK_WORDS)) {
                int block = Math.min(left, BLOCK_WORDS);
                putBlock(from, block);
                from += (long) block * WORD;
            }
        }
        putWordByWord(from, left);
    }

    /**
     * In three steps, which is fast before the loops are compiled, too: the last words of lines change places with what
     * the destination has there, all is copied in whatever order, and then the last words follow in theirs.
     */
    private void putBlock(long source, int words) {
        long bytes = (long) words * WORD;
        long end = destination + bytes;
        boolean ends = bytes == remaining / WORD * WORD;
        long first = destination + (LAST_WORD_OF_LINE - (destination & (LINE - 1)));
        long toSource = source - destination;
        int held = 0;
        for (long at = first; at < end; at += LINE) {
            hold(held++, at, toSource);
        }
        boolean holdsLast = ends && ((end - WORD) & (LINE - 1)) != LAST_WORD_OF_LINE;
        if (holdsLast) {
            hold(held, end - WORD, toSource);
        }
        Memory.copy(source, destination, bytes);
        int shown = 0;
        for (long at = first; at < end; at += LINE) {
            show(shown++, at, toSource);
        }
        if (holdsLast) {
            show(shown, end - WORD, toSource);
        }
        destination = end;
        remaining -= bytes;
    }

    private void hold(int index, long at, long toSource) {
        heldWords[index] = Memory.getLong(at + toSource);
        Memory.putLong(at + toSource, Memory.getLong(at));
    }

    private void show(int index, long at, long toSource) {
        VarHandle.storeStoreFence();
        Memory.putLongOpaque(at, heldWords[index]);
        Memory.putLong(at + toSource, heldWords[index]);
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
