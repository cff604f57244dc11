package trigon.entry.tuner;

import java.util.LinkedHashMap;
import java.util.Map;
import trigon.entry.host.Facts;
import trigon.nccl.TunerAdvice;
import trigon.system.Memory;

/**
 * The values that C gives to Java when NCCL first wants the tuner ({@code tuner_block} in {@code tuner/upcalls.c}).
 *
 * @param facts what C was compiled with, by name
 * @param upcalls address of the table to be filled, one function pointer an entry
 * @param upcallCount entries of the table
 * @param state address of {@code struct policy_state}
 * @param trace address of the table of rings for {@link trigon.trace.Recorder}
 * @param sampleConnections address of {@code int trace_sample_connections(void)}, which reads TCP's counters into it
 */
public record TunerBlock(
        Map<String, Long> facts, long upcalls, long upcallCount, long state, long trace, long sampleConnections) {

    private static final int WORD = 8;

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

    /** Everything that Java's reads and writes of NCCL's tables and the library's structs rest on. */
    public static Map<String, Long> expectedFacts() {
        Map<String, Long> facts = new LinkedHashMap<>();
        facts.put("tuner.scratch", (long) TunerAdvice.SCRATCH_BYTES);
        facts.put("tuner.scratch_alignment", (long) TunerAdvice.SCRATCH_ALIGNMENT);
        facts.put("tuner.built_in", (long) TunerAdvice.BUILT_IN_VERSION);
        facts.put("tuner.algorithms", (long) CostTable.ALGORITHMS);
        facts.put("tuner.protocols", (long) CostTable.PROTOCOLS);
        facts.put("policy.not_set", PolicyState.NOT_SET);
        facts.put("policy.set", PolicyState.SET);
        facts.put("policy.unwanted", PolicyState.UNWANTED);
        facts.put("policy.wanted", PolicyState.WANTED);
        facts.put("tuning.off", PolicyState.TUNING_OFF);
        facts.put("tuning.auto", PolicyState.TUNING_AUTO);
        facts.put("policy_state.setting", PolicyState.SETTING);
        facts.put("policy_state.deciding", PolicyState.DECIDING);
        facts.put("policy_state.events", PolicyState.EVENTS);
        facts.put("policy_state.tuning", PolicyState.TUNING);
        return facts;
    }
}
