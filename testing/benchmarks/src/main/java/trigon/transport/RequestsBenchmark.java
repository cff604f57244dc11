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
import trigon.transport.handle.HandleTable;
import trigon.transport.request.RequestTable;
import trigon.transport.request.Requests;

/** What the bookkeeping of requests and handles costs. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class RequestsBenchmark {

    /** Number of objects in the table, which take turns; a power of two. */
    @Param({"1", "16", "256", "1024"})
    public int objects;

    private static final long SESSION = 0x0007_0003_0000_0000L;

    private final RequestTable rows = RequestTable.unseen();
    private final Requests requests = rows.open(SESSION);
    private final HandleTable<Object> table = new HandleTable<>("object");
    private long[] handles = {};
    private long sequence;

    @Setup
    public void fill() {
        handles = new long[objects];
        for (int i = 0; i < objects; i++) {
            handles[i] = table.add(new Object());
        }
    }

    @TearDown
    public void close() {
        rows.close();
    }

    /** A request begins, is completed, and is taken by NCCL. */
    @Benchmark
    public int lifeOfARequest() {
        long number = sequence++;
        int slot = Requests.slot(number);
        long request = requests.begin(number, 8);
        if (requests.find(slot, request) == Requests.FREE) {
            throw new AssertionError("request " + number + " is not in its slot");
        }
        requests.complete(slot, 8);
        requests.take(slot);
        return requests.size(slot);
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
