package trigon.policy.host;

import trigon.nccl.TunerChoice;
import trigon.policy.PolicyHost;
import trigon.policy.ProgramContext;
import trigon.policy.program.ProgramType;

/**
 * Answers by what was decided beforehand, for each collective and each power of two bytes; other sizes are rounded
 * down. Immutable.
 */
final class DecisionTable implements Decisions {

    /** A {@link TunerChoice} for each of 64 sizes of five collectives. */
    static final int ENTRIES = 5 << 6;

    /** Powers of two up to {@code 2^63} for each collective. */
    private static final int SIZES_SHIFT = 6;

    private static final int COLLECTIVES = ENTRIES >> SIZES_SHIFT;

    private final long[] entries;

    private DecisionTable(long[] entries) {
        this.entries = entries;
    }

    /** Asks a program, on the maps that it has now, as if nothing had been called yet. Takes some microseconds. */
    static DecisionTable ask(PolicyHost host, PolicyCommunicator communicator) {
        long[] entries = new long[ENTRIES];
        try (ProgramContext context = new ProgramContext(ProgramType.NCCLBPF)) { // the largest of a tuner
            for (int i = 0; i < ENTRIES; i++) {
                int collective = i >> SIZES_SHIFT;
                int power = i & ((1 << SIZES_SHIFT) - 1);
                Decisions program = Decisions.byProgram(host, communicator);
                entries[i] = power < Long.SIZE - 1
                        ? program.decide(context.address(), collective, 1L << power, 1, 0)
                        : TunerChoice.NONE;
            }
        }
        return new DecisionTable(entries);
    }

    /** A table that another rank wrote. */
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
    public long decide(long scratch, int collective, long bytes, int pipeOps, int regBuff) {
        if (collective < 0 || collective >= COLLECTIVES || bytes <= 0) {
            return TunerChoice.NONE;
        }
        return entries[(collective << SIZES_SHIFT) + Long.SIZE - 1 - Long.numberOfLeadingZeros(bytes)];
    }
}
