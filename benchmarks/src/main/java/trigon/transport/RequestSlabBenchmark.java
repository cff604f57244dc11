package trigon.transport;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** What the bookkeeping of requests and handles costs. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class RequestSlabBenchmark {

    /** Objects in the table, used in turns; a power of two. */
    @Param({"1", "16", "256", "1024"})
    public int objects;

    private static final long COMM = 0x0007_0003_0000_0000L;

    private final CompletionBoard board = CompletionBoard.unseen();
    private final long row = board.open(COMM);
    private final HandleTable<Object> table = new HandleTable<>("object");
    private long[] handles = {};
    private long sequence;

    @Setup
    public void fill() {
        RequestRing.open(row);
        handles = new long[objects];
        for (int i = 0; i < objects; i++) {
            handles[i] = table.add(new Object());
        }
    }

    @TearDown
    public void close() {
        board.close();
    }

    /** From a new request to a finished one that has been asked for. */
    @Benchmark
    public int lifeOfARequest() {
        long number = sequence++;
        int slot = RequestRing.slot(number);
        long request = RequestHandle.of(COMM, number);
        RequestRing.begin(row, slot, request, 8);
        if (RequestRing.find(row, slot, request) == RequestRing.FREE) {
            throw new AssertionError("request " + number + " is not in its slot");
        }
        RequestRing.complete(row, slot, 8);
        RequestRing.take(row, slot);
        return RequestRing.size(row, slot);
    }

    @Benchmark
    public Object findByHandle() {
        Object found = table.find(handles[(int) sequence++ & (objects - 1)]);
        if (found == null) {
            throw new AssertionError("a handle that is not stale finds nothing");
        }
        return found;
    }
}
