package trigon.policy.verify;

import java.util.HashMap;
import java.util.Map;
import trigon.policy.isa.Instruction;
import trigon.policy.isa.Instruction.CallFunction;
import trigon.policy.verdict.Rule;
import trigon.policy.verdict.VerifiedFunction;

/** Stack of a function together with the functions that it calls. */
final class StackDepth {

    private final Map<Integer, VerifiedFunction> functions;
    private final Map<Integer, Integer> known = new HashMap<>();

    private StackDepth(Map<Integer, VerifiedFunction> functions) {
        this.functions = functions;
    }

    static void check(int entry, Map<Integer, VerifiedFunction> functions) throws Violation {
        int bytes = new StackDepth(functions).of(entry);
        Violation.require(
                bytes <= StackMemory.BYTES,
                Rule.STACK_BOUNDS,
                "the program and the functions it calls take %d bytes of stack, more than %d"
                        .formatted(bytes, StackMemory.BYTES));
    }

    private int of(int index) {
        Integer before = known.get(index);
        VerifiedFunction function = functions.get(index);
        if (before != null || function == null) {
            return before == null ? 0 : before;
        }
        // ends calls that no path comes to, and that may therefore go round
        known.put(index, 0);
        int deepest = 0;
        for (Instruction instruction : function.code()) {
            if (instruction instanceof CallFunction(int called)) {
                deepest = Math.max(deepest, of(called));
            }
        }
        int bytes = function.facts().stackBytes() + deepest;
        known.put(index, bytes);
        return bytes;
    }
}
