package trigon.policy.verify;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import trigon.policy.range.Range;
import trigon.policy.verdict.FunctionFacts.Region;

/** All that is known at one point of one path. */
final class State {

    final List<Frame> frames;

    State(List<Frame> frames) {
        this.frames = frames;
    }

    Frame top() {
        return frames.getLast();
    }

    State copy() {
        List<Frame> copies = new ArrayList<>(frames.size() + 1);
        for (Frame frame : frames) {
            copies.add(frame.copy());
        }
        return new State(copies);
    }

    private void replaceAll(UnaryOperator<Value> by) {
        for (Frame frame : frames) {
            for (int i = 0; i < Frame.REGISTERS; i++) {
                frame.registers[i] = by.apply(frame.registers[i]);
            }
            frame.stack.replace(by);
        }
    }

    /** Narrows a number in a register, and all that are equal to it. */
    void narrow(int register, Range range) {
        if (top().registers[register] instanceof Value.Scalar scalar) {
            int id = scalar.id();
            top().registers[register] = new Value.Scalar(range, id);
            if (id != 0) {
                replaceAll(v -> v instanceof Value.Scalar s && s.id() == id ? new Value.Scalar(range, id) : v);
            }
        }
    }

    /** An address that may be zero, and all that are equal to it, turned out to be or not. */
    void resolveNull(int id, boolean isNull) {
        replaceAll(value -> {
            if (value instanceof Value.Pointer pointer && pointer.nullable() && pointer.id() == id) {
                return isNull ? Value.Scalar.of(Range.constant(0)) : pointer.notNull();
            }
            return value;
        });
    }

    /** Forgets what nobody will read, so that more states are alike. */
    void forget(int frame, int live) {
        Value[] registers = frames.get(frame).registers;
        for (int i = 0; i < Frame.FRAME_POINTER; i++) {
            if ((live & 1 << i) == 0) {
                registers[i] = Value.UNSET;
            }
        }
    }

    /** Takes the ids off numbers that no other is equal to. */
    void dropLoneIds() {
        Map<Integer, Integer> counts = new HashMap<>();
        replaceAll(value -> {
            if (value instanceof Value.Scalar s && s.id() != 0) {
                counts.merge(s.id(), 1, Integer::sum);
            }
            return value;
        });
        if (!counts.isEmpty()) {
            replaceAll(value -> value instanceof Value.Scalar s && s.id() != 0 && counts.getOrDefault(s.id(), 0) == 1
                    ? Value.Scalar.of(s.range())
                    : value);
        }
    }

    /** The numbers that are known exactly, by a place of a register or of the stack. */
    Map<Integer, Long> numbers() {
        Map<Integer, Long> numbers = new HashMap<>();
        for (int i = 0; i < frames.size(); i++) {
            Frame frame = frames.get(i);
            int places = i * (Frame.REGISTERS + StackMemory.BYTES);
            for (int register = 0; register < Frame.REGISTERS; register++) {
                if (frame.registers[register] instanceof Value.Scalar(Range range, int _) && range.isConstant()) {
                    numbers.put(places + register, range.value());
                }
            }
            frame.stack.addNumbers(places + Frame.REGISTERS, numbers);
        }
        return numbers;
    }

    /** The registers that are set, for messages. */
    List<String> describe() {
        List<String> lines = new ArrayList<>();
        for (int i = 0; i < Frame.FRAME_POINTER; i++) {
            Value value = top().registers[i];
            if (!(value instanceof Value.Unset)) {
                lines.add("r%d = %s".formatted(i, value));
            }
        }
        return lines;
    }

    /** A function that is being run. */
    static final class Frame {

        static final int REGISTERS = 11;
        static final int FRAME_POINTER = 10;

        final int function;
        final Value[] registers;
        final StackMemory stack;
        /** The instruction at hand; of a caller, the one after the call. */
        int slot;

        private Frame(int function, int slot, Value[] registers, StackMemory stack) {
            this.function = function;
            this.slot = slot;
            this.registers = registers;
            this.stack = stack;
        }

        static Frame of(int function, int index) {
            Value[] registers = new Value[REGISTERS];
            Arrays.fill(registers, Value.UNSET);
            registers[FRAME_POINTER] = Value.Pointer.to(Region.STACK, index, 0);
            return new Frame(function, 0, registers, new StackMemory());
        }

        Frame copy() {
            return new Frame(function, slot, registers.clone(), stack.copy());
        }
    }
}
