package trigon.transport;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import trigon.nccl.NetPlugin;

/**
 * {@code test()} of a receive that nothing was sent to, over a software link: all of the way below the upcall. The
 * native queue's part is in net-bench.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@SuppressWarnings("NullAway.Init") // JMH calls connect first
public class EmptyTestBenchmark {

    private static final int BYTES = 4096;
    private static final int TAG = 7;
    private static final long DEADLINE_NANOS = 20_000_000_000L;

    private Path directory;
    private TestNode sender;
    private TestNode receiver;
    private long sendComm;
    private long receiveComm;
    private long memory;
    private long receive;

    @Setup
    public void connect() throws IOException {
        directory = Files.createTempDirectory("trigon-bench");
        TestCluster cluster = TestCluster.software(directory, """
                a: {nics: [{address: 127.3.12.1/24}]}
                b: {nics: [{address: 127.3.12.2/24}]}
                """);
        sender = cluster.open("a");
        receiver = cluster.open("b");
        long handle = receiver.allocate(NetPlugin.HANDLE_BYTES);
        long listenComm = receiver.plugin.listen(receiver.context, 0, handle);
        long deadline = System.nanoTime() + DEADLINE_NANOS;
        while (sendComm == 0 || receiveComm == 0) {
            if (sendComm == 0) {
                sendComm = sender.plugin.connect(sender.context, 0, handle, NetPlugin.TRAFFIC_CLASS_UNDEFINED);
            }
            if (receiveComm == 0) {
                receiveComm = receiver.plugin.accept(listenComm);
            }
            if (System.nanoTime() > deadline) {
                throw new AssertionError("no connection within 20 s");
            }
            Thread.onSpinWait();
        }
        long buffer = receiver.allocate(BYTES);
        memory = receiver.register(receiveComm, buffer, BYTES);
        receive = receiver.plugin.irecv(receiveComm, buffer, BYTES, TAG, memory);
        if (receive <= 0) {
            throw new AssertionError("irecv returned " + receive);
        }
    }

    @TearDown
    public void close() throws IOException {
        sender.close();
        receiver.close();
        Files.delete(directory.resolve("trigon.yaml"));
        Files.delete(directory);
    }

    @Benchmark
    public long testOfAnEmptyQueue() {
        long result = receiver.plugin.test(receive);
        if (result != NetPlugin.NOT_DONE) {
            throw new AssertionError("test returned " + result + " where nothing was sent");
        }
        return result;
    }
}
