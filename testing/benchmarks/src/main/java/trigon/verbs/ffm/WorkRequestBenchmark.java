package trigon.verbs.ffm;

import java.lang.foreign.Arena;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import trigon.verbs.SendFlag;
import trigon.verbs.ffm.struct.ReceiveWorkRequest;
import trigon.verbs.ffm.struct.SendWorkRequests;

/** What it costs to fill in a work request. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class WorkRequestBenchmark {

    private final long sends = SendWorkRequests.allocate(Arena.global());
    private final ReceiveWorkRequest receives = new ReceiveWorkRequest(Arena.global());
    private long sequence;

    @Benchmark
    public long writeWithImmediate() {
        sequence++;
        return SendWorkRequests.prepareWriteWithImmediate(
                sends, sequence, 0x7f00_0000_0000L, 65_536, 17, 0x7f11_0000_0000L, 18, 65_536, SendFlag.SIGNALED);
    }

    @Benchmark
    public long write() {
        sequence++;
        return SendWorkRequests.prepareWrite(
                sends, sequence, 0x7f00_0000_0000L, 32, 17, 0x7f11_0000_0000L, 18, SendFlag.INLINE);
    }

    @Benchmark
    public long receive() {
        sequence++;
        return receives.prepare(sequence, 0, 0, 0);
    }
}
