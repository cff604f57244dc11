package trigon.policy.isa;

import trigon.policy.isa.Instruction.Alu;
import trigon.policy.isa.Instruction.Atomic;
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
import trigon.policy.isa.Instruction.SecondHalf;
import trigon.policy.isa.Instruction.Store;

/** Instructions as text, in the notation of {@code llvm-objdump}. */
public final class Disassembly {

    private Disassembly() {}

    /** One instruction; jumps name the slot they go to. */
    public static String of(Instruction instruction, int slot) {
        return switch (instruction) {
            case Alu a -> alu(a);
            case MoveSignExtended m ->
                "%s = (s%d)%s".formatted(register(m.destination(), m.wide()), m.bits(), register(m.source(), m.wide()));
            case ByteOrder b -> {
                String how = switch (b.swap()) {
                    case TO_LITTLE_ENDIAN -> "le";
                    case TO_BIG_ENDIAN -> "be";
                    case ALWAYS -> "bswap";
                };
                yield "r%d = %s%d r%d".formatted(b.destination(), how, b.bits(), b.destination());
            }
            case Load l ->
                "r%d = %s".formatted(l.destination(), memory(l.base(), l.offset(), l.bytes(), l.signed() ? "s" : "u"));
            case Store s -> "%s = %s".formatted(memory(s.base(), s.offset(), s.bytes(), "u"), s.value());
            case Atomic a ->
                "%slock %s %s= r%d"
                        .formatted(
                                a.fetch() ? "fetch " : "",
                                memory(a.base(), a.offset(), a.bytes(), "u"),
                                a.operation(),
                                a.source());
            case LoadConstant l -> "r%d = %d ll".formatted(l.destination(), l.value());
            case LoadMap l -> "r%d = map %d".formatted(l.destination(), l.map());
            case LoadMapValue l -> "r%d = &map %d[0] + %d".formatted(l.destination(), l.map(), l.offset());
            case Jump j -> "goto " + (slot + 1 + j.offset());
            case Branch b ->
                "if %s %s %s goto %d"
                        .formatted(
                                register(b.left(), b.wide()),
                                b.comparison().symbol(),
                                operand(b.right(), b.wide()),
                                slot + 1 + b.offset());
            case CallHelper c -> "call " + c.helper();
            case CallFunction c -> "call function " + c.function();
            case Exit _ -> "exit";
            case SecondHalf _ -> "(second half)";
        };
    }

    private static String alu(Alu a) {
        String left = register(a.destination(), a.wide());
        if (a.operation() == AluOperation.NEGATE) {
            return left + " = -" + left;
        }
        return left + " " + a.operation().symbol() + " " + operand(a.operand(), a.wide());
    }

    private static String memory(int base, int offset, int bytes, String sign) {
        return "*(%s%d *)(r%d %s %d)".formatted(sign, bytes * 8, base, offset < 0 ? "-" : "+", Math.abs(offset));
    }

    private static String operand(Operand operand, boolean wide) {
        return operand instanceof Operand.Register(int number) ? register(number, wide) : operand.toString();
    }

    private static String register(int number, boolean wide) {
        return (wide ? "r" : "w") + number;
    }
}
