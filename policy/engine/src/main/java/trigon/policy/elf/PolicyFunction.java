package trigon.policy.elf;

import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;

/**
 * A function of an object.
 *
 * @param name its symbol
 * @param section where it is; says what kind of program it is
 * @param code its slots ({@link trigon.policy.isa.Encoding}), with maps and functions by their index in the object
 * @param lines of the source, by the slot they begin at
 */
@SuppressWarnings("ArrayRecordComponent") // copied in and out
public record PolicyFunction(String name, String section, long[] code, NavigableMap<Integer, SourceLine> lines) {

    public PolicyFunction {
        code = code.clone();
        lines = new TreeMap<>(lines);
    }

    @Override
    public long[] code() {
        return code.clone();
    }

    /** The source of an instruction, if the object says it. */
    public Optional<SourceLine> lineOf(int slot) {
        Map.Entry<Integer, SourceLine> line = lines.floorEntry(slot);
        return line == null ? Optional.empty() : Optional.of(line.getValue());
    }
}
