package trigon.policy.host.decision;

import trigon.policy.PolicyHost;
import trigon.policy.ProgramContext;
import trigon.policy.program.ProgramTypes;

/**
 * Answers by what was decided beforehand, for each collective and each power of two bytes; other sizes are rounded
 * down. Immutable.
 */
public final class DecisionTable implements Decisions {

    /** How many numbers it consists of. */
    static final int ENTRIES = 5 << 6;

    /** Powers of two up to {@code 2^63} for each collective. */
    private static final int SIZES_SHIFT = 6;

    private static final int COLLECTIVES = ENTRIES >> SIZES_SHIFT;

    // an entry, in bytes from the lowest: whether it counts, algorithm + 1, protocol + 1, channels, avoid
    private static final long APPLIES = 1;
    private static final int ALGORITHM_SHIFT = 8;
    private static final int PROTOCOL_SHIFT = 16;
    private static final int CHANNELS_SHIFT = 24;
    private static final int AVOID_SHIFT = 32;
    private static final int MASK = 0xff;

    private final long[] entries;

    private DecisionTable(long[] entries) {
        this.entries = entries;
    }

    /** Asks a program, on the maps that it has now, as if nothing had been called yet. Takes some microseconds. */
    static DecisionTable ask(PolicyHost host, PolicyCommunicator communicator) {
        long[] entries = new long[ENTRIES];
        try (ProgramContext context = new ProgramContext(ProgramTypes.NCCLBPF)) { // the largest of a tuner
            for (int i = 0; i < ENTRIES; i++) {
                int collective = i >> SIZES_SHIFT;
                int power = i & ((1 << SIZES_SHIFT) - 1);
                Decisions program = Decisions.byProgram(host, communicator);
                if (power < Long.SIZE - 1 && program.decide(context.address(), collective, 1L << power, 1, 0)) {
                    entries[i] = entry(context.address());
                }
            }
        }
        return new DecisionTable(entries);
    }

    /** One that another rank wrote. */
    static DecisionTable of(long[] entries) {
        if (entries.length != ENTRIES) {
            throw new IllegalArgumentException("a table has " + ENTRIES + " entries, not " + entries.length);
        }
        return new DecisionTable(entries.clone());
    }

    long[] entries() {
        return entries.clone();
    }

    @Override
    public boolean decide(long scratch, int collective, long bytes, int pipeOps, int regBuff) {
        if (collective < 0 || collective >= COLLECTIVES || bytes <= 0) {
            return false;
        }
        long entry = entries[(collective << SIZES_SHIFT) + Long.SIZE - 1 - Long.numberOfLeadingZeros(bytes)];
        TunerOutputs.set(
                scratch,
                at(entry, ALGORITHM_SHIFT) - 1,
                at(entry, PROTOCOL_SHIFT) - 1,
                at(entry, CHANNELS_SHIFT),
                at(entry, AVOID_SHIFT));
        return (entry & APPLIES) != 0;
    }

    private static long entry(long scratch) {
        return APPLIES
                | (TunerOutputs.algorithm(scratch) + 1L) << ALGORITHM_SHIFT
                | (TunerOutputs.protocol(scratch) + 1L) << PROTOCOL_SHIFT
                | (long) TunerOutputs.channels(scratch) << CHANNELS_SHIFT
                | (long) TunerOutputs.avoid(scratch) << AVOID_SHIFT;
    }

    private static int at(long entry, int shift) {
        return (int) (entry >>> shift) & MASK;
    }
}
