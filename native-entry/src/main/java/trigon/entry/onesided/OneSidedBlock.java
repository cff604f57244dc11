package trigon.entry.onesided;

import java.util.Map;
import trigon.entry.host.Facts;
import trigon.system.Memory;

/**
 * The block that C gives to Java when NCCL first wants one-sided communication ({@code one_sided_block} in {@code
 * one_sided/upcalls.c}).
 *
 * @param facts what C was compiled with, by name; see {@link OneSidedFacts}
 * @param upcalls address of the table to be filled, one function pointer an entry
 * @param upcallCount entries of the table
 * @param state address of {@code struct one_sided_state}
 */
public record OneSidedBlock(Map<String, Long> facts, long upcalls, long upcallCount, long state) {

    private static final int WORD = 8;

    /** Keeps a copy of the facts. */
    public OneSidedBlock {
        facts = Map.copyOf(facts);
    }

    /** Reads the block, which C has filled and keeps. */
    public static OneSidedBlock read(long address) {
        return new OneSidedBlock(
                Facts.read(Memory.getLong(address)),
                Memory.getLong(address + WORD),
                Memory.getLong(address + 2 * WORD),
                Memory.getLong(address + 3 * WORD));
    }
}
