package trigon.policy;

import java.lang.foreign.Arena;
import trigon.policy.compile.PolicyCode;
import trigon.policy.program.ProgramType;
import trigon.policy.program.ProgramType.Field;

/**
 * Memory of one call of a program: its context, and its stack. Used by one thread at a time, and again for the next
 * call. Freed with {@link #close}.
 */
public final class ProgramContext implements AutoCloseable {

    /** Alignment of a run's memory, in bytes. */
    public static final int ALIGNMENT = 64;

    private final Arena arena = Arena.ofShared();
    private final long address;
    private final long stackTop;

    /** Memory for runs of programs of that kind; its bytes are zero. */
    public ProgramContext(ProgramType type) {
        address = arena.allocate(bytes(type), ALIGNMENT).address();
        stackTop = address + stackTop(type);
    }

    /** Size in bytes of a run's memory: the program's context, and behind it its stack. */
    public static int bytes(ProgramType type) {
        return stackTop(type) + PolicyCode.BELOW_STACK_BYTES;
    }

    /** Offset of the stack's top from the context, in bytes; it grows downwards. */
    static int stackTop(ProgramType type) {
        return (type.contextBytes() + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT + PolicyCode.STACK_BYTES;
    }

    /** Address of the context's first byte; fields are at their offsets from it. */
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
