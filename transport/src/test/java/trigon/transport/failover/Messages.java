package trigon.transport.failover;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Collection;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import trigon.system.Memory;
import trigon.testsupport.Await;
import trigon.transport.testsupport.CapturedLog;
import trigon.transport.testsupport.Connected;
import trigon.transport.testsupport.TestNode;

/** Messages one way, each checked by its content, several under way. */
final class Messages {

    private static final int DEPTH = 8;

    /** The longest. */
    static final int SIZE = 100_000;

    private static final int[] SIZES = {0, 8, 8, 4096, 4097, SIZE};
    private static final int TAG = 5;

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
                Await.until("a message is sent, or was the last", () -> !sent.isEmpty() || received >= all);
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

    /** Waits until so many have come in all. */
    static void await(Collection<Messages> streams, long messages, long seed, CapturedLog log) {
        Await.until(
                () -> "seed %d: %s of %d messages; %s".formatted(seed, streams, messages, log.lines()),
                Await.DEADLINE,
                () -> sum(streams) >= messages);
    }

    /** So many have come. */
    static long sum(Collection<Messages> streams) {
        return streams.stream().mapToLong(stream -> stream.received).sum();
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
