package trigon.policy.verify;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import trigon.policy.map.MapSpec;
import trigon.policy.program.ProgramType;
import trigon.policy.verdict.Facts;
import trigon.policy.verdict.Region;
import trigon.policy.verdict.Touch;

/** What the rules are applied to: the kind of the program, the maps, and what was seen so far. */
final class ProgramFacts {

    final ProgramType type;
    final List<MapSpec> maps;
    final DivisionByZero divisionByZero;
    private final Map<Integer, Facts> functions = new HashMap<>();
    private int lastId;

    ProgramFacts(ProgramType type, List<MapSpec> maps, DivisionByZero divisionByZero) {
        this.type = type;
        this.divisionByZero = divisionByZero;
        this.maps = maps;
    }

    Facts of(int function) {
        return functions.computeIfAbsent(function, f -> new Facts());
    }

    int newId() {
        return ++lastId;
    }

    /** Notes memory that the instruction at hand may touch. */
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
