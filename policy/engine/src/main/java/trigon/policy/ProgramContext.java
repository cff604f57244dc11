package trigon.policy;

import java.lang.foreign.Arena;
import trigon.policy.program.Field;
import trigon.policy.program.ProgramType;

/**
 * What one call of a program works on: its context, and its stack. Used by one thread at a time, and again for the next
 * call. Freed with {@link #close}.
 */
public final class ProgramContext implements AutoCloseable {

    private final Arena arena = Arena.ofShared();
    private final long address;
    private final long stackTop;

    public ProgramContext(ProgramType type) {
        address = arena.allocate(PolicySlot.bytes(type), PolicySlot.ALIGNMENT).address();
        stackTop = address + PolicySlot.stackTop(type);
    }

    /** Of the context's first byte; fields are at their offsets from it. */
    public long address() {
        return address;
    }

    long stackTop() {
        return stackTop;
    }

    /** Writes a field; what does not fit is cut off. */
    public void set(Field field, long value) {
        field.set(address, value);
    }

    /** Reads a field, sign-extended. */
    public long get(Field field) {
        return field.get(address);
    }

    @Override
    public void close() {
        arena.close();
    }
}
