package trigon.verbs.ffm;

import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import trigon.verbs.ffm.call.DataPathCalls;
import trigon.verbs.ffm.generated.ibv_context;
import trigon.verbs.ffm.generated.ibv_context_ops;

/**
 * What a verb of the data path costs when the provider does nothing: {@link DataPathCalls} over a made-up context whose
 * function is {@code abs} of the C library.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class DowncallBenchmark {

    private final MemorySegment context = contextOf("abs");
    private final DataPathCalls ordinary = DataPathCalls.of(context.address(), false);
    private final DataPathCalls critical = DataPathCalls.of(context.address(), true);

    private static MemorySegment contextOf(String function) {
        MemorySegment context = ibv_context.allocate(Arena.global());
        MemorySegment ops = ibv_context.ops(context);
        MemorySegment address =
                Linker.nativeLinker().defaultLookup().find(function).orElseThrow();
        ibv_context_ops.post_send(ops, address);
        ibv_context_ops.post_recv(ops, address);
        ibv_context_ops.poll_cq(ops, address);
        return context;
    }

    /** As for devices whose posts are system calls. */
    @Benchmark
    public int ordinary() {
        return ordinary.postSend(0, 16, 0);
    }

    /** As for NICs that are driven from user space. */
    @Benchmark
    public int critical() {
        return critical.postSend(0, 16, 0);
    }
}
