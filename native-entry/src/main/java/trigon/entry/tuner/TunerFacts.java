package trigon.entry.tuner;

import java.util.LinkedHashMap;
import java.util.Map;
import trigon.nccl.TunerAdvice;

/** The tuner's layouts and numbers as Java has them; {@code tuner/upcalls.c} has C's. */
public final class TunerFacts {

    private TunerFacts() {}

    /** Everything that Java's reads and writes of NCCL's tables and the library's structs rest on. */
    public static Map<String, Long> expected() {
        Map<String, Long> facts = new LinkedHashMap<>();
        facts.put("tuner.scratch", (long) TunerAdvice.SCRATCH_BYTES);
        facts.put("tuner.scratch_alignment", (long) TunerAdvice.SCRATCH_ALIGNMENT);
        facts.put("tuner.algorithms", (long) CostTable.ALGORITHMS);
        facts.put("tuner.protocols", (long) CostTable.PROTOCOLS);
        facts.put("policy.not_set", PolicyState.NOT_SET);
        facts.put("policy.set", PolicyState.SET);
        facts.put("policy.unwanted", PolicyState.UNWANTED);
        facts.put("policy.wanted", PolicyState.WANTED);
        facts.put("policy_state.setting", PolicyState.SETTING);
        facts.put("policy_state.deciding", PolicyState.DECIDING);
        facts.put("policy_state.events", PolicyState.EVENTS);
        return facts;
    }
}
