package trigon.transport.failover;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import trigon.handshake.message.ListenHandle;
import trigon.nccl.NetPlugin;
import trigon.testsupport.LedgerAssert;
import trigon.testsupport.Seed;
import trigon.testsupport.TcpSockets;
import trigon.transport.testsupport.CapturedLog;
import trigon.transport.testsupport.Connected;
import trigon.transport.testsupport.TestCluster;
import trigon.transport.testsupport.TestNode;

/**
 * TCP connections of software links are cut under messages: of the data, of the lifeline, one or all. Each message
 * arrives once, in order, with its bytes, as NCCL's calls show it; and nothing of what was given up is left open.
 */
@Timeout(180)
class FailoverTest {

    /** What is cut at a time. */
    enum Cut {
        /** A TCP connection of a queue pair. */
        DATA,
        /** A lifeline. */
        LIFELINE,
        /** All TCP connections between the nodes. */
        ALL
    }

    private static final int CUTS = Integer.getInteger("trigon.cuts", 6);
    private static final Set<String> ADDRESSES = Set.of("127.1.12.1", "127.1.12.2", "127.1.13.1", "127.1.13.2");

    private final long seed = Seed.next();
    private final Random random = new Random(seed);
    private final Set<Integer> handshakePorts = new HashSet<>();
    private TestNode a;
    private TestNode b;

    @BeforeEach
    void open(@TempDir Path directory) {
        TestCluster cluster = TestCluster.software(directory, """
                a: {nics: [{address: 127.1.12.1/24}, {address: 127.1.13.1/24}]}
                b: {nics: [{address: 127.1.12.2/24}, {address: 127.1.13.2/24}]}
                """, "");
        a = cluster.open("a");
        b = cluster.open("b");
        try (Arena arena = Arena.ofConfined()) {
            for (TestNode node : List.of(a, b)) {
                long handle = arena.allocate(NetPlugin.HANDLE_BYTES).address();
                long listenComm = node.plugin.listen(node.context, 0, handle);
                ListenHandle.readFrom(handle).links().forEach(link -> handshakePorts.add(link.port()));
                node.plugin.closeListen(listenComm);
            }
        }
    }

    @AfterEach
    void nothingIsLeftOpen() {
        a.close();
        b.close();
        LedgerAssert.assertNothingOpen(a.verbs());
        LedgerAssert.assertNothingOpen(b.verbs());
    }

    @ParameterizedTest
    @EnumSource
    void everyMessageArrivesOnceHoweverOftenConnectionsAreCut(Cut cut) throws Exception {
        List<Messages> streams = Stream.of(new Connected(a, b), new Connected(b, a), new Connected(a, b))
                .map(connection -> new Messages(connection, new Random(random.nextLong())))
                .toList();
        try (CapturedLog log = new CapturedLog(Level.INFO);
                ExecutorService threads = Executors.newCachedThreadPool()) {
            List<Future<?>> ends = streams.stream()
                    .<Future<?>>flatMap(
                            stream -> Stream.of(threads.submit(stream::send), threads.submit(stream::receive)))
                    .toList();
            try {
                for (int i = 0; i < CUTS; i++) {
                    Messages.await(streams, Messages.sum(streams) + random.nextInt(500), seed, log);
                    cut(cut);
                }
                Messages.await(streams, Messages.sum(streams) + 300, seed, log);
                streams.forEach(stream -> stream.last = true);
                for (Future<?> end : ends) {
                    end.get();
                }
            } catch (ExecutionException e) {
                throw new AssertionError("seed %d; %s".formatted(seed, log.lines()), e.getCause());
            } finally {
                streams.forEach(stream -> stream.last = true);
            }
            if (cut != Cut.DATA) {
                assertThat(log.lines())
                        .as("seed %d", seed)
                        .anySatisfy(line -> assertThat(line).contains("goes on over"));
            }
        }
        streams.forEach(Messages::close);
    }

    private void cut(Cut cut) {
        List<Integer> data = TcpSockets.between(ADDRESSES, ports -> Collections.disjoint(ports, handshakePorts));
        List<Integer> lifelines = TcpSockets.between(ADDRESSES, ports -> !Collections.disjoint(ports, handshakePorts));
        switch (cut) {
            case DATA -> cutOne(data);
            case LIFELINE -> cutOne(lifelines);
            case ALL -> Stream.concat(data.stream(), lifelines.stream()).forEach(TcpSockets::shutDownUnlessOver);
        }
    }

    private void cutOne(List<Integer> connections) {
        if (!connections.isEmpty()) {
            TcpSockets.shutDownUnlessOver(connections.get(random.nextInt(connections.size())));
        }
    }
}
