package trigon.handshake;

import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
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

/**
 * A connection from each node of a cluster to one of them, by the whole handshake over TCP on the loopback interface,
 * each node at an address of its own; some at a time, and all open at the end. Queue pairs are not made.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@SuppressWarnings("NullAway.Init") // JMH calls open first
public class HandshakeNodesBenchmark {

    private static final int AT_A_TIME = 16;

    /** How many nodes the cluster has. */
    @Param({"4", "16", "64", "256", "1024"})
    public int nodes;

    private NodePair pair;

    @Setup
    public void open() throws UnknownHostException {
        pair = new NodePair();
    }

    @TearDown
    public void close() {
        pair.close();
    }

    @Benchmark
    public int connectionsOfAllNodes() throws UnknownHostException {
        List<Lifeline> open = new ArrayList<>();
        for (int node = 1; node < nodes; ) {
            List<NodePair.Attempt> some = new ArrayList<>();
            for (; node < nodes && some.size() < AT_A_TIME; node++) {
                some.add(pair.connect(node));
            }
            for (NodePair.Attempt attempt : some) {
                open.add(pair.establish(attempt).lifeline());
            }
        }
        open.forEach(Lifeline::release);
        open.forEach(lifeline -> lifeline.lost().join());
        return open.size();
    }
}
