package trigon.policy.verify;

import static trigon.policy.verify.Violation.require;

import trigon.policy.isa.Instruction.Alu;
import trigon.policy.isa.Instruction.AluOperation;
import trigon.policy.isa.Instruction.ByteOrder;
import trigon.policy.isa.Instruction.MoveSignExtended;
import trigon.policy.isa.Instruction.Operand;
import trigon.policy.range.Range;
import trigon.policy.range.RangeArithmetic;
import trigon.policy.verdict.FunctionFacts.Region;
import trigon.policy.verdict.Rejection.Rule;
import trigon.policy.verify.State.Frame;
import trigon.policy.verify.Value.Pointer;
import trigon.policy.verify.Value.Scalar;

/** Rules of registers and arithmetic. */
record Registers(ProgramFacts facts) {

    /** Beyond this, sums of offsets could overflow. */
    private static final long FURTHEST = 1L << 29;

    static Value read(State state, int register) throws Violation {
        Value value = state.top().registers[register];
        require(
                !(value instanceof Value.Unset),
                Rule.UNINITIALIZED,
                "r%d is read, but nothing was written to it on some path here (calls clear r1 to r5)"
                        .formatted(register));
        return value;
    }

    static Range number(State state, int register) throws Violation {
        Value value = read(state, register);
        if (value instanceof Scalar scalar) {
            return scalar.range();
        }
        throw new Violation(
                Rule.POINTER_ARITHMETIC, "r%d has to be a number here, but is %s".formatted(register, value));
    }

    static Value value(State state, Operand operand) throws Violation {
        return switch (operand) {
            case Operand.Register(int register) -> read(state, register);
            case Operand.Constant(long value) -> Scalar.of(Range.constant(value));
        };
    }

    static void write(State state, int register, Value value) throws Violation {
        require(register != Frame.FRAME_POINTER, Rule.FRAME_POINTER, "r10 cannot be written");
        state.top().registers[register] = value;
    }

    void alu(State state, Alu alu) throws Violation {
        if (alu.operation() == AluOperation.MOVE) {
            move(state, alu);
            return;
        }
        Value left = read(state, alu.destination());
        Value right = value(state, alu.operand());
        if (left instanceof Scalar leftNumber && right instanceof Scalar rightNumber) {
            Range a = leftNumber.range();
            Range b = rightNumber.range();
            if (alu.operation().divides()) {
                checkDivisor(alu.wide() ? b : b.lowBits(32));
            }
            write(state, alu.destination(), Scalar.of(RangeArithmetic.apply(alu.operation(), alu.wide(), a, b)));
        } else {
            write(state, alu.destination(), pointerSum(alu, left, right));
        }
    }

    private void checkDivisor(Range divisor) throws Violation {
        require(
                facts.divisionByZero == DivisionByZero.DEFINED || !divisor.contains(0),
                Rule.DIVISION_BY_ZERO,
                "the divisor may be zero (it is %s); compare it with 0 first".formatted(divisor));
    }

    private void move(State state, Alu alu) throws Violation {
        Value source = value(state, alu.operand());
        switch (source) {
            case Pointer _ -> {
                require(alu.wide(), Rule.POINTER_ARITHMETIC, "half of an address is moved");
                write(state, alu.destination(), source);
            }
            case Scalar(Range range, int id) -> {
                boolean whole = alu.wide() || range.equals(range.lowBits(32));
                if (!whole || range.isConstant() || !(alu.operand() instanceof Operand.Register(int register))) {
                    write(state, alu.destination(), Scalar.of(whole ? range : range.lowBits(32)));
                    return;
                }
                // from now on, what is learned of one is learned of both
                Scalar tied = new Scalar(range, id != 0 ? id : facts.newId());
                state.top().registers[register] = tied;
                write(state, alu.destination(), tied);
            }
            case Value.Unset _ -> throw new IllegalStateException("read() refuses it");
        }
    }

    private static Pointer pointerSum(Alu alu, Value left, Value right) throws Violation {
        AluOperation operation = alu.operation();
        boolean sum = operation == AluOperation.ADD || operation == AluOperation.SUBTRACT;
        require(
                alu.wide() && sum,
                Rule.POINTER_ARITHMETIC,
                "%s on an address; only numbers can be added to addresses".formatted(operation));
        boolean swapped = operation == AluOperation.ADD && left instanceof Scalar;
        Value base = swapped ? right : left;
        Value added = swapped ? left : right;
        if (base instanceof Pointer pointer && added instanceof Scalar scalar) {
            Range number = scalar.range();
            require(
                    !pointer.nullable(),
                    Rule.NULL_CHECK,
                    "something is added to %s; compare it with 0 first".formatted(pointer));
            require(
                    pointer.region() != Region.MAP,
                    Rule.POINTER_ARITHMETIC,
                    "arithmetic on %s itself".formatted(pointer));
            Range offset = RangeArithmetic.apply(operation, true, pointer.offset(), number);
            require(
                    offset.min() >= -FURTHEST
                            && offset.max() <= FURTHEST
                            && number.min() >= -FURTHEST
                            && number.max() <= FURTHEST,
                    Rule.POINTER_ARITHMETIC,
                    "%s is added to an address; compare it with its bounds first".formatted(number));
            return pointer.at(offset);
        }
        throw new Violation(Rule.POINTER_ARITHMETIC, "%s of %s and %s".formatted(operation, left, right));
    }

    void signExtend(State state, MoveSignExtended move) throws Violation {
        Range extended = number(state, move.source()).signExtended(move.bits());
        write(state, move.destination(), Scalar.of(move.wide() ? extended : extended.lowBits(32)));
    }

    void byteOrder(State state, ByteOrder order) throws Violation {
        Range value = number(state, order.destination());
        Range result = switch (order.swap()) {
            case TO_LITTLE_ENDIAN -> value.lowBits(order.bits());
            case TO_BIG_ENDIAN, ALWAYS -> RangeArithmetic.lowBitsSwapped(value, order.bits());
        };
        write(state, order.destination(), Scalar.of(result));
    }
}
