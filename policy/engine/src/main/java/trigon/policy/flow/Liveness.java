package trigon.policy.flow;

import trigon.policy.isa.Instruction;
import trigon.policy.isa.Instruction.Alu;
import trigon.policy.isa.Instruction.AluOperation;
import trigon.policy.isa.Instruction.Atomic;
import trigon.policy.isa.Instruction.AtomicOperation;
import trigon.policy.isa.Instruction.Branch;
import trigon.policy.isa.Instruction.ByteOrder;
import trigon.policy.isa.Instruction.CallFunction;
import trigon.policy.isa.Instruction.CallHelper;
import trigon.policy.isa.Instruction.Exit;
import trigon.policy.isa.Instruction.Jump;
import trigon.policy.isa.Instruction.Load;
import trigon.policy.isa.Instruction.LoadConstant;
import trigon.policy.isa.Instruction.LoadMap;
import trigon.policy.isa.Instruction.LoadMapValue;
import trigon.policy.isa.Instruction.MoveSignExtended;
import trigon.policy.isa.Instruction.Operand;
import trigon.policy.isa.Instruction.SecondHalf;
import trigon.policy.isa.Instruction.Store;

/**
 * Registers that an instruction reads and writes, and those that may be read after it. Sets are bits, r0 the lowest.
 */
public final class Liveness {

    private static final int CALL_ARGUMENTS = 0b111110;
    private static final int CALL_CLOBBERED = 0b111111;

    private final int[] liveBefore;

    /** Works backward until nothing changes. */
    public Liveness(Instruction[] code, ControlFlow flow) {
        liveBefore = new int[code.length];
        boolean changed = true;
        while (changed) {
            changed = false;
            for (int slot = code.length - 1; slot >= 0; slot--) {
                int after = 0;
                for (int next : flow.successors(slot)) {
                    after |= liveBefore[next];
                }
                int before = (after & ~writes(code[slot])) | reads(code[slot]);
                changed |= before != liveBefore[slot];
                liveBefore[slot] = before;
            }
        }
    }

    /** Registers whose content may be read from this instruction on. */
    public int liveBefore(int slot) {
        return liveBefore[slot];
    }

    /** Registers an instruction reads. */
    public static int reads(Instruction instruction) {
        return switch (instruction) {
            case Alu a -> (a.operation() == AluOperation.MOVE ? 0 : 1 << a.destination()) | bits(a.operand());
            case MoveSignExtended m -> 1 << m.source();
            case ByteOrder b -> 1 << b.destination();
            case Load l -> 1 << l.base();
            case Store s -> 1 << s.base() | bits(s.value());
            case Atomic a ->
                1 << a.base() | 1 << a.source() | (a.operation() == AtomicOperation.COMPARE_AND_EXCHANGE ? 1 : 0);
            case LoadConstant _, LoadMap _, LoadMapValue _, Jump _, SecondHalf _ -> 0;
            case Branch b -> 1 << b.left() | bits(b.right());
            case CallHelper _, CallFunction _ -> CALL_ARGUMENTS;
            case Exit _ -> 1;
        };
    }

    /** Registers an instruction writes, those that a call leaves undefined among them. */
    public static int writes(Instruction instruction) {
        return switch (instruction) {
            case Alu a -> 1 << a.destination();
            case MoveSignExtended m -> 1 << m.destination();
            case ByteOrder b -> 1 << b.destination();
            case Load l -> 1 << l.destination();
            case LoadConstant l -> 1 << l.destination();
            case LoadMap l -> 1 << l.destination();
            case LoadMapValue l -> 1 << l.destination();
            case Atomic a ->
                a.operation() == AtomicOperation.COMPARE_AND_EXCHANGE ? 1 : a.fetch() ? 1 << a.source() : 0;
            case CallHelper _, CallFunction _ -> CALL_CLOBBERED;
            case Store _, Jump _, Branch _, Exit _, SecondHalf _ -> 0;
        };
    }

    private static int bits(Operand operand) {
        return operand instanceof Operand.Register(int number) ? 1 << number : 0;
    }
}
