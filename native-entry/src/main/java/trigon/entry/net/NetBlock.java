package trigon.entry.net;

import java.util.Map;
import trigon.entry.host.Facts;
import trigon.system.Memory;

/**
 * The block that C gives to Java when NCCL first wants the net plugin ({@code net_block} in {@code net/upcalls.c}).
 *
 * @param facts what C was compiled with, by name; see {@link NetFacts}
 * @param upcalls address of the table to be filled, one function pointer an entry
 * @param upcallCount entries of the table
 * @param requestTable address of the table of rows for {@link trigon.transport.request.RequestTable}
 * @param memoryTable address of the table of registrations for {@link trigon.transport.request.MemoryTable}
 * @param laneFunctions address of {@code struct lane_functions}
 * @param warmUp address of {@code int warm_up(void)}, which calls all entries of the table
 * @param trace address of the table of rings for {@link trigon.trace.Recorder}
 * @param sampleConnections address of {@code int trace_sample_connections(void)}, which reads TCP's counters into it
 * @param policy address of {@code struct policy_state}
 * @param oneSided address of {@code struct one_sided_state}
 * @param softwareFunctions address of {@code struct software_functions}
 */
public record NetBlock(
        Map<String, Long> facts,
        long upcalls,
        long upcallCount,
        long requestTable,
        long memoryTable,
        long laneFunctions,
        long warmUp,
        long trace,
        long sampleConnections,
        long policy,
        long oneSided,
        long softwareFunctions) {

    private static final int WORD = 8;

    /** Reads the block, which C has filled and keeps. */
    public static NetBlock read(long address) {
        return new NetBlock(
                Facts.read(Memory.getLong(address)),
                Memory.getLong(address + WORD),
                Memory.getLong(address + 2 * WORD),
                Memory.getLong(address + 3 * WORD),
                Memory.getLong(address + 4 * WORD),
                Memory.getLong(address + 5 * WORD),
                Memory.getLong(address + 6 * WORD),
                Memory.getLong(address + 7 * WORD),
                Memory.getLong(address + 8 * WORD),
                Memory.getLong(address + 9 * WORD),
                Memory.getLong(address + 10 * WORD),
                Memory.getLong(address + 11 * WORD));
    }
}
