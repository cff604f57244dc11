package trigon.policy;

import java.lang.foreign.Arena;
import trigon.policy.compile.PolicyCode;
import trigon.policy.program.Field;
import trigon.policy.program.ProgramType;
import trigon.verbs.Memory;

/**
 * What one call of a program works on: its context, and its stack. Used by one thread at a time, and again for the next
 * call. Freed with {@link #close}.
 */
public final class ProgramContext implements AutoCloseable {

    private final Arena arena = Arena.ofShared();
    private final long address;
    private final long stackTop;

    public ProgramContext(ProgramType type) {
        long context = (type.contextBytes() + 63) / 64 * 64L;
        address = arena.allocate(context + PolicyCode.STACK_BYTES + PolicyCode.BELOW_STACK_BYTES, 64)
                .address();
        stackTop = address + context + PolicyCode.STACK_BYTES;
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
        if (field.bytes() == Long.BYTES) {
            Memory.putLong(address + field.offset(), value);
        } else {
            Memory.putInt(address + field.offset(), (int) value);
        }
    }

    /** Reads a field, sign-extended. */
    public long get(Field field) {
        return field.bytes() == Long.BYTES
                ? Memory.getLong(address + field.offset())
                : Memory.getInt(address + field.offset());
    }

    @Override
    public void close() {
        arena.close();
    }
}
