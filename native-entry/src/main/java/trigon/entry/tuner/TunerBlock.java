package trigon.entry.tuner;

import java.util.Map;
import trigon.entry.host.Facts;
import trigon.system.Memory;

/**
 * What C gives to Java when NCCL first wants the tuner ({@code tuner_block} in {@code tuner/upcalls.c}).
 *
 * @param facts what C was compiled with, by name; see {@link TunerFacts}
 * @param upcalls address of the table to be filled, one function pointer an entry
 * @param upcallCount entries of the table
 * @param state address of {@code struct policy_state}
 * @param trace address of the table of rings for {@link trigon.trace.Recorder}
 * @param sampleConnections address of {@code int trace_sample_connections(void)}, which reads TCP's counters into it
 */
public record TunerBlock(
        Map<String, Long> facts, long upcalls, long upcallCount, long state, long trace, long sampleConnections) {

    private static final int WORD = 8;

    /** Keeps a copy of the facts. */
    public TunerBlock {
        facts = Map.copyOf(facts);
    }

    /** Reads the block, which C has filled and keeps. */
    public static TunerBlock read(long address) {
        return new TunerBlock(
                Facts.read(Memory.getLong(address)),
                Memory.getLong(address + WORD),
                Memory.getLong(address + 2 * WORD),
                Memory.getLong(address + 3 * WORD),
                Memory.getLong(address + 4 * WORD),
                Memory.getLong(address + 5 * WORD));
    }
}
