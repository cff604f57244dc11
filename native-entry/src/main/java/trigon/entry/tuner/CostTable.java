package trigon.entry.tuner;

import trigon.nccl.TunerChoice;
import trigon.system.Memory;

/**
 * NCCL's table of times, by algorithm and protocol: a {@code float} each, row by row. NCCL takes the least that is not
 * negative, the first of equals. Allocates nothing.
 */
final class CostTable {

    static final int ALGORITHMS = 7;
    static final int PROTOCOLS = 3;

    /** Time of a policy's choice: NCCL has no less. */
    static final float CHOSEN = 0;

    /** Time of an algorithm to avoid, the last resort; NCCL's own times are microseconds. */
    static final float AVOIDED = 1e30f;

    private CostTable() {}

    /**
     * Puts a policy's choice into the table.
     *
     * @param choice a {@link TunerChoice}
     * @param table address of the table
     * @param algorithms its rows
     * @param protocols its columns
     * @param channelsOut address of an {@code int}, 0 as NCCL left it: it decides
     * @return false if NCCL cannot use the algorithm with the protocol
     */
    static boolean apply(long choice, long table, int algorithms, int protocols, long channelsOut) {
        int avoided = TunerChoice.avoid(choice);
        if (avoided != 0) {
            avoid(table, algorithms, protocols, avoided);
        }
        int channels = TunerChoice.channels(choice);
        if (channels > 0) {
            Memory.putInt(channelsOut, channels);
        }
        int algorithm = TunerChoice.algorithm(choice);
        int protocol = TunerChoice.protocol(choice);
        boolean wantsNothing = algorithm == TunerChoice.LEAVE_TO_NCCL && protocol == TunerChoice.LEAVE_TO_NCCL;
        return wantsNothing || choose(table, algorithms, protocols, algorithm, protocol);
    }

    /** Chooses an algorithm with a protocol; false if NCCL cannot use them. */
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

    /** Makes algorithms the last resort; {@code avoided} has a bit for each. */
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
