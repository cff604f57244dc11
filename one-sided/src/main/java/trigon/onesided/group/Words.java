package trigon.onesided.group;

import trigon.system.Memory;

/** Words of 8 bytes that ranks tell each other. */
final class Words {

    private Words() {}

    static void write(long[] words, long address) {
        for (int i = 0; i < words.length; i++) {
            Memory.putLong(address + (long) i * Long.BYTES, words[i]);
        }
    }

    static long[] read(long address, int count) {
        long[] words = new long[count];
        for (int i = 0; i < count; i++) {
            words[i] = Memory.getLong(address + (long) i * Long.BYTES);
        }
        return words;
    }
}
