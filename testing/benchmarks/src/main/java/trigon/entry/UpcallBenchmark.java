package trigon.entry;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.util.Collections;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/**
 * What it costs C to call Java: a downcall to an upcall stub, in the shapes of the data path's calls. The downcall's
 * own share is {@link #downcallAlone}.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class UpcallBenchmark {

    private static final FunctionDescriptor THREE = longs(3);
    private static final FunctionDescriptor SIX = longs(6);
    private static final Linker LINKER = Linker.nativeLinker();
    private static final MethodHandle CALL_THREE = LINKER.downcallHandle(THREE);
    private static final MethodHandle CALL_SIX = LINKER.downcallHandle(SIX);
    private static final MethodHandle ABS = LINKER.downcallHandle(
            LINKER.defaultLookup().find("abs").orElseThrow(),
            FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));

    private final Targets targets = new Targets();
    private final MemorySegment three = targets.stub("three", THREE);
    private final MemorySegment six = targets.stub("six", SIX);
    private long value = 42;

    private static FunctionDescriptor longs(int count) {
        return FunctionDescriptor.of(
                ValueLayout.JAVA_INT,
                Collections.nCopies(count, ValueLayout.JAVA_LONG).toArray(MemoryLayout[]::new));
    }

    /** What is called, bound to an object as in the plugin. */
    @SuppressWarnings("UnusedMethod") // found by name
    private static final class Targets {

        private final long value = System.nanoTime();

        int three(long request, long doneOut, long sizes) {
            return (int) (request + doneOut + sizes + value);
        }

        int six(long comm, long data, long size, long tag, long memory, long requestOut) {
            return (int) (comm + data + size + tag + memory + requestOut + value);
        }

        MemorySegment stub(String method, FunctionDescriptor descriptor) {
            try {
                MethodHandle target = MethodHandles.lookup().bind(this, method, descriptor.toMethodType());
                return LINKER.upcallStub(target, descriptor, Arena.global());
            } catch (ReflectiveOperationException e) {
                throw new LinkageError("no upcall target " + method, e);
            }
        }
    }

    /** The shape of {@code test}. */
    @Benchmark
    public int threeArguments() throws Throwable {
        return (int) CALL_THREE.invokeExact(three, value, value, value);
    }

    /** The shape of {@code isend} and {@code irecv}. */
    @Benchmark
    public int sixArguments() throws Throwable {
        return (int) CALL_SIX.invokeExact(six, value, value, value, value, value, value);
    }

    /** What the downcall around each upcall costs, to be subtracted. */
    @Benchmark
    public int downcallAlone() throws Throwable {
        return (int) ABS.invokeExact((int) value);
    }
}
