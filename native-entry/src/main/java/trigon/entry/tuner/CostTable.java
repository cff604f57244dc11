package trigon.entry.tuner;

import trigon.system.Memory;

/**
 * NCCL's table of times, by algorithm and protocol: a {@code float} each, row by row. NCCL takes the least that is not
 * negative, the first of equals. Allocates nothing.
 */
final class CostTable {

    static final int ALGORITHMS = 7;
    static final int PROTOCOLS = 3;

    /** What a policy chose: NCCL has no less. */
    static final float CHOSEN = 0;

    /** What a policy avoids: taken where there is nothing else; NCCL's own times are microseconds. */
    static final float AVOIDED = 1e30f;

    private CostTable() {}

    /**
     * Chooses an algorithm with a protocol, unless NCCL cannot use them.
     *
     * @param table address of the table
     * @param algorithms its rows
     * @param protocols its columns
     * @return whether they are chosen now
     */
    static boolean choose(long table, int algorithms, int protocols, int algorithm, int protocol) {
        if (algorithm < 0 || algorithm >= algorithms || protocol < 0 || protocol >= protocols) {
            return false;
        }
        long entry = entry(table, protocols, algorithm, protocol);
        if (cannotBeUsed(entry)) {
            return false;
        }
        Memory.putFloat(entry, CHOSEN);
        return true;
    }

    /**
     * Makes algorithms the last resort.
     *
     * @param avoided a bit for each
     */
    static void avoid(long table, int algorithms, int protocols, int avoided) {
        for (int algorithm = 0; algorithm < algorithms; algorithm++) {
            if ((avoided >>> algorithm & 1) != 0) {
                for (int protocol = 0; protocol < protocols; protocol++) {
                    long entry = entry(table, protocols, algorithm, protocol);
                    if (!cannotBeUsed(entry)) {
                        Memory.putFloat(entry, AVOIDED);
                    }
                }
            }
        }
    }

    /** Its time is negative. */
    private static boolean cannotBeUsed(long entry) {
        return Float.intBitsToFloat(Memory.getInt(entry)) < 0;
    }

    private static long entry(long table, int protocols, int algorithm, int protocol) {
        return table + (long) (algorithm * protocols + protocol) * Float.BYTES;
    }
}
