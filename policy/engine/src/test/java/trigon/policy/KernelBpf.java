package trigon.policy;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.util.Optional;
import trigon.system.Errno;

/**
 * A program in the kernel: verified, compiled and run there, by bpf(2). Its kind is BPF_PROG_TYPE_SYSCALL, whose
 * context is the caller's buffer. That takes CAP_BPF and a kernel from 5.14 on.
 */
final class KernelBpf implements AutoCloseable {

    private static final long BPF = System.getProperty("os.arch").equals("amd64") ? 321 : 280;
    private static final long CLOSE = System.getProperty("os.arch").equals("amd64") ? 3 : 57;
    private static final long PROG_LOAD = 5;
    private static final long PROG_TEST_RUN = 10;
    private static final int TYPE_SYSCALL = 31;
    private static final int SLEEPABLE = 1 << 4;
    private static final long LICENSE_OFFSET = 128;

    /** Size of {@code union bpf_attr}, as far as these commands use it; the license's bytes follow. */
    private static final long ATTRIBUTE_BYTES = 80;

    private static final StructLayout CALL_STATE = Linker.Option.captureStateLayout();
    private static final VarHandle ERRNO = CALL_STATE.varHandle(MemoryLayout.PathElement.groupElement("errno"));
    private static final MethodHandle SYSCALL = Linker.nativeLinker()
            .downcallHandle(
                    Linker.nativeLinker().defaultLookup().find("syscall").orElseThrow(),
                    FunctionDescriptor.of(
                            ValueLayout.JAVA_LONG,
                            ValueLayout.JAVA_LONG,
                            ValueLayout.JAVA_LONG,
                            ValueLayout.JAVA_LONG,
                            ValueLayout.JAVA_LONG),
                    Linker.Option.captureCallState("errno"),
                    Linker.Option.firstVariadicArg(1));

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment attributes = arena.allocate(2 * LICENSE_OFFSET, 8);
    private final MemorySegment callState = arena.allocate(CALL_STATE);
    private final long program;
    private final int errno;

    private KernelBpf(long[] code) {
        MemorySegment instructions = arena.allocateFrom(ValueLayout.JAVA_LONG, code);
        attributes.setString(LICENSE_OFFSET, "GPL");
        attributes.set(ValueLayout.JAVA_INT, 0, TYPE_SYSCALL);
        attributes.set(ValueLayout.JAVA_INT, 4, code.length);
        attributes.set(ValueLayout.JAVA_LONG, 8, instructions.address());
        attributes.set(ValueLayout.JAVA_LONG, 16, attributes.address() + LICENSE_OFFSET);
        attributes.set(ValueLayout.JAVA_INT, 44, SLEEPABLE);
        program = call(BPF, PROG_LOAD, attributes.address(), ATTRIBUTE_BYTES);
        errno = (int) ERRNO.get(callState, 0L);
    }

    /** Why this kernel has no such programs for this process; empty: it has. */
    static Optional<String> unavailable() {
        try (KernelBpf least = new KernelBpf(new Code().set(0, 0).exit().slots())) {
            return least.program >= 0
                    ? Optional.empty()
                    : Optional.of("bpf(2) fails with " + Errno.name(least.errno)
                            + ": it takes root, and CONFIG_BPF_SYSCALL of a kernel from 5.14 on");
        }
    }

    /** The program; empty where the kernel's verifier refuses it. */
    static Optional<KernelBpf> load(long[] code) {
        KernelBpf loaded = new KernelBpf(code);
        if (loaded.program >= 0) {
            return Optional.of(loaded);
        }
        loaded.close();
        return Optional.empty();
    }

    /** The low half of its result; it changes the context, which is native memory. */
    int run(MemorySegment context) {
        attributes.asSlice(0, ATTRIBUTE_BYTES).fill((byte) 0);
        attributes.set(ValueLayout.JAVA_INT, 0, (int) program);
        attributes.set(ValueLayout.JAVA_INT, 40, (int) context.byteSize());
        attributes.set(ValueLayout.JAVA_LONG, 48, context.address());
        if (call(BPF, PROG_TEST_RUN, attributes.address(), ATTRIBUTE_BYTES) < 0) {
            throw new AssertionError(
                    "the kernel does not run what it has loaded: " + Errno.name((int) ERRNO.get(callState, 0L)));
        }
        return attributes.get(ValueLayout.JAVA_INT, 4);
    }

    private long call(long number, long first, long second, long third) {
        try {
            return (long) SYSCALL.invokeExact(callState, number, first, second, third);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public void close() {
        if (program >= 0) {
            var _ = call(CLOSE, program, 0, 0);
        }
        arena.close();
    }
}
