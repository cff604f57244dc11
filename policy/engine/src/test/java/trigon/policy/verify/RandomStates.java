package trigon.policy.verify;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import trigon.policy.range.Range;
import trigon.policy.verdict.FunctionFacts.Region;
import trigon.policy.verify.State.Frame;

/** States at random, of few different parts, so that one often covers another. */
final class RandomStates {

    static final int USED_REGISTERS = 5;
    static final int USED_STACK = 24;

    private static final Range[] RANGES = {
        Range.UNKNOWN,
        Range.ofBits(32),
        Range.ofBits(8),
        Range.unsigned(0, 7),
        Range.signed(-8, 7),
        Range.constant(0),
        Range.constant(4),
        Range.constant(-1)
    };
    private static final Range[] OFFSETS = {Range.constant(0), Range.constant(8), Range.unsigned(0, 8)};
    private static final int MAX_FRAMES = 3;

    private final Random random;

    RandomStates(Random random) {
        this.random = random;
    }

    /** Values that are tied to each other know the same of themselves, as in the verifier. */
    State next() {
        List<Frame> frames = new ArrayList<>();
        Value[] tied = {null, scalar(1), scalar(2), pointer(3, true), pointer(4, false), pointer(5, true)};
        int count = 1 + random.nextInt(MAX_FRAMES);
        for (int i = 0; i < count; i++) {
            Frame frame = Frame.of(i, i);
            for (int register = 0; register < USED_REGISTERS; register++) {
                frame.registers[register] = value(tied, i);
            }
            for (int stored = random.nextInt(4); stored > 0; stored--) {
                store(frame.stack, value(tied, i));
            }
            frames.add(frame);
        }
        return new State(frames);
    }

    private void store(StackMemory stack, Value value) {
        if (value instanceof Value.Unset) {
            return;
        }
        int bytes = value instanceof Value.Pointer ? 8 : 1 << random.nextInt(4);
        int offset = -bytes * (1 + random.nextInt(USED_STACK / bytes));
        boolean whole = bytes == 8 || !(value instanceof Value.Scalar);
        stack.store(
                offset,
                bytes,
                whole ? value : Value.Scalar.of(((Value.Scalar) value).range().lowBits(8 * bytes)));
        if (random.nextInt(4) == 0) {
            stack.storeSomewhere(-8, 0);
        }
    }

    private Value value(Value[] tied, int frame) {
        return switch (random.nextInt(8)) {
            case 0 -> Value.UNSET;
            case 1 -> scalar(0);
            case 2 -> Value.Pointer.to(Region.MAP_VALUE, random.nextInt(2), 8L * random.nextInt(2));
            case 3 -> Value.Pointer.to(random.nextBoolean() ? Region.CONTEXT : Region.MAP, 0, 0);
            case 4 -> Value.Pointer.to(Region.STACK, random.nextInt(frame + 1), -8L * random.nextInt(3));
            default -> tied[1 + random.nextInt(tied.length - 1)];
        };
    }

    private Value scalar(int id) {
        return new Value.Scalar(RANGES[random.nextInt(RANGES.length)], id);
    }

    private Value pointer(int id, boolean nullable) {
        return new Value.Pointer(
                Region.MAP_VALUE, random.nextInt(2), OFFSETS[random.nextInt(OFFSETS.length)], nullable, id);
    }

    /** Mostly the same state, of which less is known, or something else. */
    State near(State from) {
        if (random.nextInt(20) == 0) {
            return next();
        }
        State near = from.copy();
        int renamed = random.nextInt(3) * 10;
        for (int change = random.nextInt(4); change > 0; change--) {
            Frame frame = near.frames.get(random.nextInt(near.frames.size()));
            int register = random.nextInt(USED_REGISTERS);
            Value value = frame.registers[register];
            frame.registers[register] = switch (random.nextInt(4)) {
                case 0 -> Value.UNSET;
                case 1 -> frame.registers[random.nextInt(USED_REGISTERS)];
                default -> weakened(value);
            };
            if (random.nextInt(3) == 0) {
                frame.stack.store(-8, 8, scalar(0));
            }
        }
        return renamed(near, renamed);
    }

    private Value weakened(Value value) {
        return switch (value) {
            case Value.Unset unset -> unset;
            case Value.Scalar scalar ->
                random.nextBoolean() ? Value.Scalar.of(scalar.range()) : new Value.Scalar(Range.UNKNOWN, scalar.id());
            case Value.Pointer pointer ->
                new Value.Pointer(
                        pointer.region(),
                        pointer.index(),
                        random.nextBoolean() ? pointer.offset() : OFFSETS[random.nextInt(OFFSETS.length)],
                        pointer.nullable(),
                        random.nextBoolean() || pointer.region() != Region.MAP_VALUE
                                ? pointer.id()
                                : random.nextInt(6));
        };
    }

    private static State renamed(State state, int by) {
        for (Frame frame : state.frames) {
            for (int register = 0; register < USED_REGISTERS; register++) {
                frame.registers[register] = renamed(frame.registers[register], by);
            }
            frame.stack.replace(value -> renamed(value, by));
        }
        return state;
    }

    private static Value renamed(Value value, int by) {
        return switch (value) {
            case Value.Scalar(Range range, int id) when id != 0 -> new Value.Scalar(range, id + by);
            case Value.Pointer(Region region, int index, Range offset, boolean nullable, int id)
            when id != 0 -> new Value.Pointer(region, index, offset, nullable, id + by);
            default -> value;
        };
    }
}
