package trigon.policy.isa;

import trigon.policy.isa.Instruction.Alu;
import trigon.policy.isa.Instruction.AluOperation;
import trigon.policy.isa.Instruction.Atomic;
import trigon.policy.isa.Instruction.AtomicOperation;
import trigon.policy.isa.Instruction.Branch;
import trigon.policy.isa.Instruction.ByteOrder;
import trigon.policy.isa.Instruction.CallFunction;
import trigon.policy.isa.Instruction.CallHelper;
import trigon.policy.isa.Instruction.Comparison;
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
import trigon.policy.isa.Instruction.Swap;

/**
 * Slots to instructions. Takes the conformance groups base32, base64, divmul32, divmul64, atomic32 and atomic64 of RFC
 * 9669; refuses the legacy packet group, calls through registers and everything with a reserved field in use. Where the
 * instructions jump to is not its concern.
 */
public final class InstructionDecoder {

    private static final int REGISTERS = 11;

    private final int slot;
    private final int opcode;
    private final int destination;
    private final int source;
    private final int offset;
    private final int immediate;

    private InstructionDecoder(int slot, long encoded) {
        this.slot = slot;
        opcode = Encoding.opcode(encoded);
        destination = Encoding.destination(encoded);
        source = Encoding.source(encoded);
        offset = Encoding.offset(encoded);
        immediate = Encoding.immediate(encoded);
    }

    /** All instructions of a function, one for each slot. */
    public static Instruction[] decode(long[] code) throws CodeException {
        Instruction[] decoded = new Instruction[code.length];
        for (int slot = 0; slot < code.length; slot++) {
            InstructionDecoder one = new InstructionDecoder(slot, code[slot]);
            one.checkRegisters();
            if (one.opcode == Encoding.LOAD_CONSTANT) {
                if (slot + 1 == code.length) {
                    throw one.refused("a load of 64 bits lacks its second half");
                }
                decoded[slot] = one.loadConstant(code[slot + 1]);
                slot++;
                decoded[slot] = new SecondHalf();
            } else {
                decoded[slot] = one.instruction();
            }
        }
        return decoded;
    }

    private void checkRegisters() throws CodeException {
        if (destination >= REGISTERS || source >= REGISTERS) {
            throw refused("register r" + Math.max(destination, source) + " does not exist, there are r0 to r10");
        }
    }

    private Instruction loadConstant(long second) throws CodeException {
        if ((second & 0xffff_ffffL) != 0 || offset != 0) {
            throw refused("a load of 64 bits has reserved fields in use");
        }
        int high = Encoding.immediate(second);
        return switch (source) {
            case 0 -> new LoadConstant(destination, ((long) high << 32) | (immediate & 0xffff_ffffL));
            case Encoding.SOURCE_MAP -> {
                require(high == 0, "a load of a map has an offset");
                yield new LoadMap(destination, immediate);
            }
            case Encoding.SOURCE_MAP_VALUE -> new LoadMapValue(destination, immediate, high);
            default -> throw refused("a load of 64 bits of the unknown kind " + source);
        };
    }

    private Instruction instruction() throws CodeException {
        return switch (opcode & 7) {
            case 1 -> load();
            case 2, 3 -> store();
            case 4, 7 -> arithmetic();
            case 5, 6 -> jump();
            default -> throw unknown();
        };
    }

    private Instruction load() throws CodeException {
        require(immediate == 0, "a load has an immediate");
        return switch (opcode & 0xe0) {
            case 0x60 -> new Load(destination, source, offset, bytes(), false);
            case 0x80 -> {
                require(bytes() != 8, "8 bytes have nothing to sign-extend to");
                yield new Load(destination, source, offset, bytes(), true);
            }
            default -> throw unknown();
        };
    }

    private Instruction store() throws CodeException {
        boolean register = (opcode & 7) == 3;
        int mode = opcode & 0xe0;
        if (register && mode == 0xc0) {
            return atomic();
        }
        if (mode != 0x60) {
            throw unknown();
        }
        require(register ? immediate == 0 : source == 0, "a store has a reserved field in use");
        return new Store(destination, offset, bytes(), operand(register));
    }

    private Instruction atomic() throws CodeException {
        require(bytes() >= 4, "atomic operations take 4 or 8 bytes");
        boolean fetch = (immediate & 1) != 0;
        AtomicOperation operation = switch (immediate) {
            case 0x00, 0x01 -> AtomicOperation.ADD;
            case 0x40, 0x41 -> AtomicOperation.OR;
            case 0x50, 0x51 -> AtomicOperation.AND;
            case 0xa0, 0xa1 -> AtomicOperation.XOR;
            case 0xe1 -> AtomicOperation.EXCHANGE;
            case 0xf1 -> AtomicOperation.COMPARE_AND_EXCHANGE;
            default ->
                throw refused(
                        "the atomic operation 0x%x is not supported; build with clang -mcpu=v3".formatted(immediate));
        };
        return new Atomic(operation, fetch, destination, offset, bytes(), source);
    }

    private Instruction arithmetic() throws CodeException {
        boolean wide = (opcode & 7) == 7;
        boolean register = (opcode & 8) != 0;
        int code = opcode & 0xf0;
        if (code == 0xd0) {
            return byteOrder(wide, register);
        }
        if (code == 0xb0 && register && offset != 0) {
            require(immediate == 0, "a move has an immediate and a register");
            require(
                    offset == 8 || offset == 16 || (offset == 32 && wide),
                    "a move with sign extension of " + offset + " bits");
            return new MoveSignExtended(wide, destination, source, offset);
        }
        boolean signed = offset == 1 && (code == 0x30 || code == 0x90);
        require(offset == 0 || signed, "an arithmetic instruction has an offset");
        require(register ? immediate == 0 : source == 0, "an arithmetic instruction has two operands");
        if (code == 0x80) {
            require(!register && immediate == 0, "a negation has an operand");
        }
        return new Alu(operation(code, signed), wide, destination, operand(register));
    }

    private AluOperation operation(int code, boolean signed) throws CodeException {
        return switch (code) {
            case 0x00 -> AluOperation.ADD;
            case 0x10 -> AluOperation.SUBTRACT;
            case 0x20 -> AluOperation.MULTIPLY;
            case 0x30 -> signed ? AluOperation.DIVIDE_SIGNED : AluOperation.DIVIDE;
            case 0x40 -> AluOperation.OR;
            case 0x50 -> AluOperation.AND;
            case 0x60 -> AluOperation.SHIFT_LEFT;
            case 0x70 -> AluOperation.SHIFT_RIGHT;
            case 0x80 -> AluOperation.NEGATE;
            case 0x90 -> signed ? AluOperation.MODULO_SIGNED : AluOperation.MODULO;
            case 0xa0 -> AluOperation.XOR;
            case 0xb0 -> AluOperation.MOVE;
            case 0xc0 -> AluOperation.SHIFT_RIGHT_ARITHMETIC;
            default -> throw unknown();
        };
    }

    private Instruction byteOrder(boolean wide, boolean toBig) throws CodeException {
        require(source == 0 && offset == 0, "a byte order instruction has reserved fields in use");
        require(
                immediate == 16 || immediate == 32 || immediate == 64,
                "a byte order instruction of " + immediate + " bits");
        if (wide) {
            require(!toBig, "a byte swap has reserved fields in use");
            return new ByteOrder(destination, immediate, Swap.ALWAYS);
        }
        return new ByteOrder(destination, immediate, toBig ? Swap.TO_BIG_ENDIAN : Swap.TO_LITTLE_ENDIAN);
    }

    private Instruction jump() throws CodeException {
        boolean wide = (opcode & 7) == 5;
        boolean register = (opcode & 8) != 0;
        int code = opcode & 0xf0;
        return switch (code) {
            case 0x00 -> {
                require(!register && destination == 0 && source == 0, "a jump has reserved fields in use");
                require(wide ? immediate == 0 : offset == 0, "a jump has two distances");
                yield new Jump(wide ? offset : immediate);
            }
            case 0x80 -> call(wide, register);
            case 0x90 -> {
                require(wide && !register, "there is no exit of 32 bits, or with a register");
                require(
                        destination == 0 && source == 0 && offset == 0 && immediate == 0,
                        "an exit has reserved fields in use");
                yield new Exit();
            }
            default -> {
                require(register ? immediate == 0 : source == 0, "a branch has two operands");
                yield new Branch(comparison(code), wide, destination, operand(register), offset);
            }
        };
    }

    private Instruction call(boolean wide, boolean register) throws CodeException {
        require(wide && !register, "calls through a register are not supported; call the function by its name");
        require(destination == 0 && offset == 0, "a call has reserved fields in use");
        return switch (source) {
            case 0 -> new CallHelper(immediate);
            case Encoding.SOURCE_FUNCTION -> new CallFunction(immediate);
            default -> throw refused("kernel functions (kfuncs) and helpers by BTF id do not exist here");
        };
    }

    private Comparison comparison(int code) throws CodeException {
        return switch (code) {
            case 0x10 -> Comparison.EQUAL;
            case 0x20 -> Comparison.GREATER;
            case 0x30 -> Comparison.GREATER_OR_EQUAL;
            case 0x40 -> Comparison.BITS_SET;
            case 0x50 -> Comparison.NOT_EQUAL;
            case 0x60 -> Comparison.SIGNED_GREATER;
            case 0x70 -> Comparison.SIGNED_GREATER_OR_EQUAL;
            case 0xa0 -> Comparison.LESS;
            case 0xb0 -> Comparison.LESS_OR_EQUAL;
            case 0xc0 -> Comparison.SIGNED_LESS;
            case 0xd0 -> Comparison.SIGNED_LESS_OR_EQUAL;
            default -> throw unknown();
        };
    }

    private Operand operand(boolean register) {
        return register ? new Operand.Register(source) : new Operand.Constant(immediate);
    }

    private int bytes() {
        return switch (opcode & 0x18) {
            case 0x00 -> 4;
            case 0x08 -> 2;
            case 0x10 -> 1;
            default -> 8;
        };
    }

    private void require(boolean condition, String otherwise) throws CodeException {
        if (!condition) {
            throw refused(otherwise);
        }
    }

    private CodeException unknown() {
        if ((opcode & 7) == 0) {
            return refused("packet access (opcode 0x%02x) is not supported".formatted(opcode));
        }
        return refused("the opcode 0x%02x does not exist".formatted(opcode));
    }

    private CodeException refused(String message) {
        return new CodeException(slot, message);
    }
}
