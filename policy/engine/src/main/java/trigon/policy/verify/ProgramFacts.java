package trigon.policy.verify;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import trigon.policy.map.MapSpec;
import trigon.policy.program.ProgramType;
import trigon.policy.range.Range;
import trigon.policy.verdict.FunctionFacts;
import trigon.policy.verdict.FunctionFacts.Region;
import trigon.policy.verdict.FunctionFacts.Touch;
import trigon.policy.verify.State.Frame;

/** A program's type, its maps, and what the verifier has found out about it so far. */
final class ProgramFacts {

    /** Constants of a read-only map that one load may read; with more, the load may give anything. */
    private static final int MAX_CONSTANTS = 1024;

    private static final byte[] NO_CONSTANTS = {};

    final ProgramType type;
    final List<MapSpec> maps;
    final DivisionByZero divisionByZero;

    private final Map<Integer, FunctionFacts> functions = new HashMap<>();

    /** By the index of the map. */
    private final Map<Integer, byte[]> constants = new HashMap<>();

    private int lastId;

    ProgramFacts(ProgramType type, List<MapSpec> maps, DivisionByZero divisionByZero) {
        this.type = type;
        this.divisionByZero = divisionByZero;
        this.maps = maps;
    }

    FunctionFacts of(int function) {
        return functions.computeIfAbsent(function, f -> new FunctionFacts());
    }

    int newId() {
        return ++lastId;
    }

    /** The values that a load from a map may give. Those of read-only maps are known. */
    Range loaded(Value.Pointer at, int bytes) {
        MapSpec map = maps.get(at.index());
        byte[] content = map.readOnly() ? constants.computeIfAbsent(at.index(), index -> map.content()) : NO_CONSTANTS;
        long first = Math.ceilDiv(at.offset().min(), bytes) * bytes;
        long last = at.offset().max();
        if (last + bytes > content.length || (last - first) / bytes >= MAX_CONSTANTS) {
            return Range.ofBits(8 * bytes);
        }
        @Nullable Range loaded = null;
        for (long offset = first; offset <= last; offset += bytes) {
            if (at.offset().contains(offset)) {
                long value = number(content, (int) offset, bytes);
                loaded = loaded == null ? Range.constant(value) : loaded.including(value);
            }
        }
        return loaded == null ? Range.ofBits(8 * bytes) : loaded;
    }

    /** Little endian, as programs read it. */
    private static long number(byte[] content, int offset, int bytes) {
        long number = 0;
        for (int i = bytes - 1; i >= 0; i--) {
            number = (number << 8) | (content[offset + i] & 0xff);
        }
        return number;
    }

    /** Records memory that the current instruction may touch. */
    void touch(State state, Value.Pointer pointer, long from, long to) {
        int index = pointer.index();
        if (pointer.region() == Region.STACK) {
            index = state.frames.get(index).function;
            of(index).usesStack((int) -from);
        }
        Frame top = state.top();
        of(top.function).touch(top.slot, new Touch(pointer.region(), index, from, to));
    }

    void map(State state, int map) {
        of(state.top().function).map(state.top().slot, map);
    }
}
