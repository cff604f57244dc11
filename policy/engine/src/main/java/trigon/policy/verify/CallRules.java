package trigon.policy.verify;

import static trigon.policy.verify.Violation.require;

import java.util.Arrays;
import java.util.stream.Collectors;
import trigon.policy.map.MapSpec;
import trigon.policy.map.MapSpec.MapType;
import trigon.policy.program.Helper;
import trigon.policy.range.Range;
import trigon.policy.verdict.FunctionFacts.Region;
import trigon.policy.verdict.Rejection.Rule;
import trigon.policy.verify.State.Frame;
import trigon.policy.verify.Value.Pointer;
import trigon.policy.verify.Value.Scalar;

/** Rules of calls, and of coming back from them. */
record CallRules(ProgramFacts facts, MemoryRules memory) {

    private static final int MAX_FRAMES = 8;
    private static final int FIRST_ARGUMENT = 1;
    private static final int LAST_ARGUMENT = 5;

    /** A helper works as long for so many bytes as an instruction does for its own. */
    private static final int BYTES_OF_INSTRUCTION = 64;

    /** Returns how many instructions it is worth. */
    int helper(State state, int number) throws Violation {
        Helper helper = facts.type.helper(number).orElse(null);
        if (helper == null) {
            throw new Violation(
                    Rule.UNKNOWN_HELPER,
                    "helper %d does not exist for %s; there are %s"
                            .formatted(
                                    number,
                                    facts.type.section(),
                                    facts.type.helpers().stream()
                                            .sorted()
                                            .map(h -> "%s (%d)".formatted(h.cName(), h.number()))
                                            .collect(Collectors.joining(", "))));
        }
        int map = -1;
        long bytes = 0;
        for (int i = 0; i < helper.arguments().size(); i++) {
            int register = FIRST_ARGUMENT + i;
            switch (helper.arguments().get(i)) {
                case MAP -> map = map(state, register, helper);
                case KEY ->
                    bytes += readable(state, register, facts.maps.get(map).keyBytes());
                case VALUE ->
                    bytes += readable(state, register, facts.maps.get(map).valueBytes());
                case MEMORY -> bytes += readable(state, register, length(state, register + 1));
                case LENGTH, NUMBER -> number(state, register);
            }
        }
        Value result = switch (helper.result()) {
            case NUMBER -> Scalar.of(Range.UNKNOWN);
            case NUMBER_32 -> Scalar.of(Range.ofBits(32));
            case VALUE_OR_NULL -> new Pointer(Region.MAP_VALUE, map, Range.constant(0), true, facts.newId());
        };
        finish(state, result);
        return (int) (1 + bytes / BYTES_OF_INSTRUCTION);
    }

    private long readable(State state, int register, long bytes) throws Violation {
        memory.checkReadable(state, register, bytes);
        return bytes;
    }

    private int map(State state, int register, Helper helper) throws Violation {
        Value value = Registers.read(state, register);
        if (!(value instanceof Pointer pointer) || pointer.region() != Region.MAP) {
            throw new Violation(Rule.HELPER_ARGUMENT, "r%d has to be a map, but is %s".formatted(register, value));
        }
        MapSpec map = facts.maps.get(pointer.index());
        require(
                helper.takes(map.type()),
                Rule.HELPER_ARGUMENT,
                "%s cannot work on map %s".formatted(helper.cName(), map));
        boolean writes = helper == Helper.MAP_UPDATE || helper == Helper.MAP_DELETE;
        require(!writes || !map.readOnly(), Rule.READ_ONLY, "map %s holds constants".formatted(map.name()));
        facts.map(state, pointer.index());
        return pointer.index();
    }

    private static Range number(State state, int register) throws Violation {
        Value value = Registers.read(state, register);
        if (value instanceof Scalar scalar) {
            return scalar.range();
        }
        throw new Violation(Rule.HELPER_ARGUMENT, "r%d has to be a number, but is %s".formatted(register, value));
    }

    private static long length(State state, int register) throws Violation {
        Range length = number(state, register);
        require(
                length.min() >= 1 && length.max() <= MapSpec.MAX_BYTES,
                Rule.HELPER_ARGUMENT,
                "r%d is a size, but may be %s; compare it with its bounds first".formatted(register, length));
        return length.max();
    }

    private static void finish(State state, Value result) {
        Value[] registers = state.top().registers;
        registers[0] = result;
        Arrays.fill(registers, FIRST_ARGUMENT, LAST_ARGUMENT + 1, Value.UNSET);
    }

    void loadMap(State state, int register, int map) throws Violation {
        require(map >= 0 && map < facts.maps.size(), Rule.INVALID_INSTRUCTION, "map %d does not exist".formatted(map));
        Registers.write(state, register, Pointer.to(Region.MAP, map, 0));
    }

    void loadMapValue(State state, int register, int map, int offset) throws Violation {
        require(
                map >= 0 && map < facts.maps.size() && facts.maps.get(map).type() == MapType.ARRAY,
                Rule.INVALID_INSTRUCTION,
                "map %d does not exist, or is no array".formatted(map));
        Registers.write(state, register, Pointer.to(Region.MAP_VALUE, map, offset));
    }

    /** Goes on in a function; the caller's slot is already the one to come back to. */
    void function(State state, int function) throws Violation {
        require(
                state.frames.size() < MAX_FRAMES,
                Rule.CALL_DEPTH,
                "calls are nested more than %d deep".formatted(MAX_FRAMES));
        require(
                state.frames.stream().noneMatch(frame -> frame.function == function),
                Rule.CALL_DEPTH,
                "the function calls itself");
        Frame called = Frame.of(function, state.frames.size());
        System.arraycopy(state.top().registers, FIRST_ARGUMENT, called.registers, FIRST_ARGUMENT, LAST_ARGUMENT);
        state.frames.add(called);
    }

    /** Comes back from a function, or ends the program. False if it ended. */
    boolean exit(State state) throws Violation {
        if (state.frames.size() == 1) {
            Value result = Registers.read(state, 0);
            require(result instanceof Scalar, Rule.POINTER_LEAK, "the program returns an address: " + result);
            Range range = ((Scalar) result).range();
            require(
                    range.min() >= facts.type.minResult() && range.max() <= facts.type.maxResult(),
                    Rule.RETURN_VALUE,
                    "the program may return %s, but %s returns %d to %d"
                            .formatted(range, facts.type.section(), facts.type.minResult(), facts.type.maxResult()));
            return false;
        }
        // a function may return nothing: then there is nothing that its caller may read
        Value result = state.top().registers[0];
        boolean dangling = result instanceof Pointer pointer
                && pointer.region() == Region.STACK
                && pointer.index() == state.frames.size() - 1;
        require(!dangling, Rule.POINTER_LEAK, "an address in a function's stack is returned to its caller");
        state.frames.removeLast();
        finish(state, result);
        return true;
    }
}
