package trigon.policy.verify;

import java.util.Arrays;
import trigon.policy.verdict.Region;

/** A function that is being run. */
final class Frame {

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
