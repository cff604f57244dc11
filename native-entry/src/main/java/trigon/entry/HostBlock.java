package trigon.entry;

import java.util.LinkedHashMap;
import java.util.Map;
import trigon.verbs.Memory;

/**
 * What C gives to Java at the start ({@code host_block} in {@code entry.c}).
 *
 * @param facts what C was compiled with, by name: sizes of structs and offsets of fields
 * @param logLine address of {@code int32_t log_line(int32_t level, int64_t subsystems, const char *text)}
 * @param upcalls address of the table to be filled, one function pointer an entry
 * @param upcallCount entries of the table
 * @param board address of the table of rows for {@link trigon.transport.CompletionBoard}
 * @param practise address of {@code int practise(void)}
 * @param guardSignalsAgain address of {@code int guard_signals_again(void)}
 * @param pageBytes size of the kernel's pages
 */
record HostBlock(
        Map<String, Long> facts,
        long logLine,
        long upcalls,
        long upcallCount,
        long board,
        long practise,
        long guardSignalsAgain,
        int pageBytes) {

    private static final int WORD = 8;
    private static final int FACT_BYTES = 2 * WORD;
    private static final int LONGEST_NAME = 100;

    HostBlock {
        facts = Map.copyOf(facts);
    }

    /** Reads the block, which C has filled and keeps. */
    static HostBlock read(long address) {
        long facts = Memory.getLong(address);
        long factCount = Memory.getLong(address + WORD);
        Map<String, Long> byName = new LinkedHashMap<>();
        for (long i = 0; i < factCount; i++) {
            long fact = facts + i * FACT_BYTES;
            byName.put(readName(Memory.getLong(fact)), Memory.getLong(fact + WORD));
        }
        return new HostBlock(
                byName,
                Memory.getLong(address + 2 * WORD),
                Memory.getLong(address + 3 * WORD),
                Memory.getLong(address + 4 * WORD),
                Memory.getLong(address + 5 * WORD),
                Memory.getLong(address + 6 * WORD),
                Memory.getLong(address + 7 * WORD),
                Math.toIntExact(Memory.getLong(address + 8 * WORD)));
    }

    private static String readName(long address) {
        StringBuilder name = new StringBuilder();
        for (int i = 0; i < LONGEST_NAME; i++) {
            byte character = Memory.getByte(address + i);
            if (character == 0) {
                break;
            }
            name.append((char) character);
        }
        return name.toString();
    }
}
