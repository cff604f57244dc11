package trigon.software.memory;

import trigon.system.Memory;

/** Puts short payloads, and the first part of longer ones, into their place. */
public final class ShortCopy {

    private ShortCopy() {}

    /**
     * Copies bytes upward. Where they end with an aligned word of 8 bytes, that word is in one piece and after all
     * others: who polls a clear-to-send entry looks at its last word.
     */
    public static void copy(long from, long to, int bytes) {
        int before = bytes - Long.BYTES;
        if (before >= 0 && ((to + before) & (Long.BYTES - 1)) == 0) {
            Memory.copy(from, to, before);
            Memory.putLongRelease(to + before, Memory.getLong(from + before));
        } else {
            Memory.copy(from, to, bytes);
        }
    }
}
