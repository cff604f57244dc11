package trigon.policy.elf;

import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import trigon.policy.elf.PolicyObject.SourceLine;
import trigon.policy.map.MapSpec;

/**
 * The content of an object file.
 *
 * @param name of the file, for messages
 * @param functions all of them; calls name them by their index
 * @param programs the indexes of those that the host calls: global functions outside of {@code .text}
 * @param maps declared ones, then one for each section of data
 */
public record PolicyObject(String name, List<Function> functions, List<Integer> programs, List<MapSpec> maps) {

    public PolicyObject {
        functions = List.copyOf(functions);
        programs = List.copyOf(programs);
        maps = List.copyOf(maps);
    }

    /**
     * The place in a source file that an instruction comes from.
     *
     * @param column of the expression, from 1; 0: the object does not say
     * @param text the whole line
     */
    public record SourceLine(String file, int line, int column, String text) {

        /** The line, and below it a mark at the expression. */
        public String marked() {
            if (column < 1 || column > text.length()) {
                return text.strip();
            }
            int indented = text.length() - text.stripLeading().length();
            int at = Math.max(0, column - 1 - indented);
            return text.strip() + "\n" + " ".repeat(at) + "^";
        }

        /** The file and where in it: {@code policy.c:12:9}. */
        public String place() {
            return column > 0 ? "%s:%d:%d".formatted(file, line, column) : "%s:%d".formatted(file, line);
        }

        @Override
        public String toString() {
            return "%s: %s".formatted(place(), text.strip());
        }
    }

    /**
     * A function of an object.
     *
     * @param name its symbol
     * @param section where it is; says what kind of program it is
     * @param code its slots ({@link trigon.policy.isa.Encoding}), with maps and functions by their index in the object
     * @param lines of the source, by the slot they begin at
     */
    @SuppressWarnings("ArrayRecordComponent") // copied in and out
    public record Function(String name, String section, long[] code, NavigableMap<Integer, SourceLine> lines) {

        public Function {
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
}
