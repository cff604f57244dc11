package trigon.transport;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
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
import trigon.handshake.ListenHandle;
import trigon.net.NetPlugin;
import trigon.testsupport.LedgerAssert;
import trigon.testsupport.Seed;
import trigon.testsupport.TcpSockets;
import trigon.verbs.Memory;

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
    private static final int SIZE = 100_000;
    private static final int[] SIZES = {0, 8, 8, 4096, 4097, SIZE};
    private static final int TAG = 5;
    private static final Set<String> ADDRESSES = Set.of("127.1.12.1", "127.1.12.2", "127.1.13.1", "127.1.13.2");
    private static final long DEADLINE_NANOS = 60_000_000_000L;

    private final long seed = Seed.next();
    private final Random random = new Random(seed);
    private final Set<Integer> handshakePorts = new HashSet<>();
    private TestNode a;
    private TestNode b;

    @BeforeEach
    void open(@TempDir Path directory) {
        TestCluster cluster = TestCluster.failingOver(directory, """
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
        List<Messages> streams = Stream.of(new Connected(a, b), new Connected(b, a), new Connected(a, 1, b))
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
                    long received = streams.stream().mapToLong(s -> s.received).sum();
                    awaitMessages(streams, received + random.nextInt(500), log);
                    cut(cut);
                }
                long received = streams.stream().mapToLong(s -> s.received).sum();
                awaitMessages(streams, received + 300, log);
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

    private void awaitMessages(List<Messages> streams, long messages, CapturedLog log) throws InterruptedException {
        long deadline = System.nanoTime() + DEADLINE_NANOS;
        while (streams.stream().mapToLong(s -> s.received).sum() < messages) {
            if (System.nanoTime() > deadline) {
                throw new AssertionError(
                        "seed %d: %s of %d messages; %s".formatted(seed, streams, messages, log.lines()));
            }
            Thread.sleep(1);
        }
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

    /** Messages one way, each checked by its content, several under way. */
    static final class Messages {

        private static final int DEPTH = 8;

        private final Connected connection;
        private final Random sizes;
        private final long from;
        private final long to;
        private final long fromHandle;
        private final long toHandle;
        private final Queue<Integer> sent = new ConcurrentLinkedQueue<>();
        volatile long received;
        volatile boolean last;
        private volatile long all = Long.MAX_VALUE;

        Messages(Connected connection, Random sizes) {
            this.connection = connection;
            this.sizes = sizes;
            from = connection.sender.allocate((long) DEPTH * SIZE);
            to = connection.receiver.allocate((long) DEPTH * SIZE);
            fromHandle = connection.sender.register(connection.sendComm, from, (long) DEPTH * SIZE);
            toHandle = connection.receiver.register(connection.receiveComm, to, (long) DEPTH * SIZE);
        }

        void send() {
            long[] requests = new long[DEPTH];
            int[] lengths = new int[DEPTH];
            long number = 0;
            for (; !last; number++) {
                int slot = (int) (number % DEPTH);
                awaitDone(connection.sender, requests[slot], lengths[slot]);
                int size = SIZES[sizes.nextInt(SIZES.length)];
                long at = from + (long) slot * SIZE;
                fill(at, size, number);
                sent.add(size);
                requests[slot] = Connected.retry(
                        () -> connection.sender.plugin.isend(connection.sendComm, at, size, TAG, fromHandle));
                lengths[slot] = size;
            }
            all = number;
            for (int slot = 0; slot < DEPTH; slot++) {
                awaitDone(connection.sender, requests[slot], lengths[slot]);
            }
        }

        private static void awaitDone(TestNode node, long request, int size) {
            if (request != 0) {
                assertThat(Connected.finish(node, request)).isEqualTo(size);
            }
        }

        void receive() {
            while (received < all) {
                int slot = (int) (received % DEPTH);
                long at = to + (long) slot * SIZE;
                if (sent.isEmpty()) {
                    Thread.onSpinWait();
                    continue;
                }
                long request = Connected.retry(
                        () -> connection.receiver.plugin.irecv(connection.receiveComm, at, SIZE, TAG, toHandle));
                long size = Connected.finish(connection.receiver, request);
                assertThat(size).isEqualTo(sent.remove().longValue());
                long number = received; // nobody else writes it
                check(at, (int) size, number);
                received = number + 1;
            }
        }

        private static void fill(long at, int size, long number) {
            for (int i = 0; i + 8 <= size; i += 8) {
                Memory.putLong(at + i, number * 0x9E3779B97F4A7C15L + i);
            }
        }

        private static void check(long at, int size, long number) {
            for (int i = 0; i + 8 <= size; i += 8) {
                if (Memory.getLong(at + i) != number * 0x9E3779B97F4A7C15L + i) {
                    throw new AssertionError("byte %d of message %d".formatted(i, number));
                }
            }
        }

        void close() {
            connection.sender.plugin.closeSend(connection.sendComm);
            connection.receiver.plugin.closeReceive(connection.receiveComm);
        }

        @Override
        public String toString() {
            return received + " messages";
        }
    }
}
