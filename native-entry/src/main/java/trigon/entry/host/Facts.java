package trigon.entry.host;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import trigon.system.Memory;

/** Facts that C was compiled with, by name: sizes of structs, offsets of fields, numbers ({@code host/facts.h}). */
public final class Facts {

    private static final int WORD = 8;
    private static final int FACT_BYTES = 2 * WORD;
    private static final int LONGEST_NAME = 100;

    private Facts() {}

    /**
     * Reads them.
     *
     * @param address of a {@code struct facts}, which C keeps
     */
    public static Map<String, Long> read(long address) {
        long first = Memory.getLong(address);
        long count = Memory.getLong(address + WORD);
        Map<String, Long> byName = new LinkedHashMap<>();
        for (long i = 0; i < count; i++) {
            long fact = first + i * FACT_BYTES;
            byName.put(readName(Memory.getLong(fact)), Memory.getLong(fact + WORD));
        }
        return Collections.unmodifiableMap(byName);
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
