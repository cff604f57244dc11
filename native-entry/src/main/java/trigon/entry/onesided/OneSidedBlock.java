package trigon.entry.onesided;

import java.util.LinkedHashMap;
import java.util.Map;
import trigon.entry.host.Facts;
import trigon.onesided.OneSided;
import trigon.system.Memory;

/**
 * The block that C gives to Java when NCCL first wants one-sided communication ({@code one_sided_block} in {@code
 * one_sided/upcalls.c}).
 *
 * @param facts what C was compiled with, by name
 * @param upcalls address of the table to be filled, one function pointer an entry
 * @param upcallCount entries of the table
 * @param state address of {@code struct one_sided_state}
 */
public record OneSidedBlock(Map<String, Long> facts, long upcalls, long upcallCount, long state) {

    private static final int WORD = 8;

    /** Reads the block, which C has filled and keeps. */
    public static OneSidedBlock read(long address) {
        return new OneSidedBlock(
                Facts.read(Memory.getLong(address)),
                Memory.getLong(address + WORD),
                Memory.getLong(address + 2 * WORD),
                Memory.getLong(address + 3 * WORD));
    }

    /** Everything that Java and C have to agree on; {@code one_sided/upcalls.c} has C's numbers. */
    public static Map<String, Long> expectedFacts() {
        Map<String, Long> facts = new LinkedHashMap<>();
        facts.put("one_sided.increment", (long) OneSided.INCREMENT);
        facts.put("one_sided.add", (long) OneSided.ADD);
        facts.put("one_sided.never_reset", OneSidedUpcalls.NEVER_RESET);
        facts.put("one_sided.off", OneSidedState.OFF);
        facts.put("one_sided.on", OneSidedState.ON);
        facts.put("one_sided_state.setting", OneSidedState.SETTING);
        OneSidedCall[] calls = OneSidedCall.values();
        for (int number = 0; number < calls.length; number++) {
            facts.put(calls[number].fact(), (long) number);
        }
        return facts;
    }
}
