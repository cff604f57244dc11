package trigon.policy.flow;

import java.util.BitSet;
import trigon.policy.isa.CodeException;
import trigon.policy.isa.Instruction;
import trigon.policy.isa.Instruction.Branch;
import trigon.policy.isa.Instruction.Exit;
import trigon.policy.isa.Instruction.Jump;
import trigon.policy.isa.Instruction.LoadConstant;
import trigon.policy.isa.Instruction.LoadMap;
import trigon.policy.isa.Instruction.LoadMapValue;
import trigon.policy.isa.Instruction.SecondHalf;

/** The successors of each instruction of a function. */
public final class ControlFlow {

    private static final int[] NONE = {};

    private final int[][] successors;
    private final BitSet targets = new BitSet();
    private final BitSet reachable = new BitSet();

    /**
     * Follows the instructions from the first.
     *
     * @throws CodeException if they lead beyond the function, or into the middle of an instruction
     */
    public ControlFlow(Instruction[] code) throws CodeException {
        successors = new int[code.length][];
        if (code.length == 0) {
            throw new CodeException(0, "the function is empty");
        }
        for (int slot = 0; slot < code.length; slot++) {
            successors[slot] = successors(code, slot);
        }
        int[] pending = new int[code.length];
        int count = 1;
        reachable.set(0);
        while (count > 0) {
            int slot = pending[--count];
            for (int next : successors[slot]) {
                if (!reachable.get(next)) {
                    reachable.set(next);
                    pending[count++] = next;
                }
            }
        }
    }

    private int[] successors(Instruction[] code, int slot) throws CodeException {
        return switch (code[slot]) {
            case Exit _, SecondHalf _ -> NONE;
            case Jump jump -> new int[] {target(code, slot, jump.offset())};
            case Branch branch -> new int[] {next(code, slot, 1), target(code, slot, branch.offset())};
            case LoadConstant _, LoadMap _, LoadMapValue _ -> new int[] {next(code, slot, 2)};
            default -> new int[] {next(code, slot, 1)};
        };
    }

    private static int next(Instruction[] code, int slot, int distance) throws CodeException {
        if (slot + distance >= code.length) {
            throw new CodeException(slot, "the function's end is reached without an exit");
        }
        return slot + distance;
    }

    private int target(Instruction[] code, int slot, int offset) throws CodeException {
        long target = slot + 1L + offset;
        if (target < 0 || target >= code.length) {
            throw new CodeException(slot, "a jump leads out of the function, to instruction " + target);
        }
        if (code[(int) target] instanceof SecondHalf) {
            throw new CodeException(slot, "a jump leads into the middle of instruction " + (target - 1));
        }
        targets.set((int) target);
        return (int) target;
    }

    /** Returns the instructions that may follow one; after a branch, first the next one, then its target. */
    public int[] successors(int slot) {
        return successors[slot].clone();
    }

    /** Number of slots. */
    public int size() {
        return successors.length;
    }

    /** Tells whether some instruction jumps there. */
    public boolean isTarget(int slot) {
        return targets.get(slot);
    }

    /** Tells whether some jumps lead there from the first instruction. */
    public boolean isReachable(int slot) {
        return reachable.get(slot);
    }
}
