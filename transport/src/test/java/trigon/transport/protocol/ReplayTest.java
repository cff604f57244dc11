package trigon.transport.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import trigon.system.Memory;
import trigon.testsupport.Await;
import trigon.testsupport.Seed;
import trigon.testsupport.TcpSockets;
import trigon.transport.request.RequestRow;
import trigon.transport.request.Requests;

/**
 * Messages over software links whose connections are cut at any moment, and which go on over new ones: each arrives
 * once, in order, with its bytes, though the sender's memory is written anew as soon as a message is done.
 */
@Timeout(180)
class ReplayTest {

    /** How messages go. */
    enum Ways {
        EAGER,
        RENDEZVOUS,
        /** By the one and the other, as through relays and back. */
        CHANGING;

        MessageProtocol first() {
            return this == EAGER ? MessageProtocol.EAGER : MessageProtocol.RENDEZVOUS;
        }

        MessageProtocol next(Random random) {
            return this == CHANGING && random.nextBoolean() ? MessageProtocol.EAGER : first();
        }
    }

    /** What happens to a path. */
    enum Cut {
        /** Both ends are fenced while all is well. */
        NOTHING,
        /** A TCP connection ends: that of the requests, or of the other direction. */
        A_CONNECTION,
        /** All of them end. */
        ALL_CONNECTIONS
    }

    private static final int[] SIZES = {0, 8, 8, 8, 1000, 4096, 4097, 9000, 60_000, 90_000};
    private static final int MAX = 90_000;
    private static final int TAG = 7;
    private static final int CUTS = Integer.getInteger("trigon.cuts", 25);
    private static final int MESSAGES_BETWEEN = 300;

    /** Between two pauses of {@link Await}, which on a busy machine are long. */
    private static final int STEPS_AT_ONCE = 100;

    private @Nullable ProtocolPair opened;
    private final Arena arena = Arena.ofShared();
    private final long from =
            arena.allocate((long) RequestRow.REQUESTS * MAX, 64).address();
    private final long to = arena.allocate((long) RequestRow.REQUESTS * MAX, 64).address();
    private final long seed = Seed.next();
    private final Random random = new Random(seed);
    private final List<Integer> sizes = new ArrayList<>();
    private final long[] sends = new long[RequestRow.REQUESTS];
    private final long[] receives = new long[RequestRow.REQUESTS];
    private boolean sendsMore = true;
    private long sent;
    private long asked;
    private long received;

    @AfterEach
    void close() {
        if (opened != null) {
            opened.close();
        }
        arena.close();
    }

    static List<Arguments> waysAndCuts() {
        return Stream.of(Ways.values())
                .flatMap(ways -> Stream.of(Cut.values()).map(cut -> Arguments.of(ways, cut)))
                .toList();
    }

    @ParameterizedTest
    @MethodSource("waysAndCuts")
    void everyMessageArrivesOnce(Ways ways, Cut cut) {
        opened = new ProtocolPair(ways.first(), true);
        ProtocolPair pair = opened;
        pair.register(from, to, RequestRow.REQUESTS * MAX);
        for (int round = 0; round < CUTS; round++) {
            long cutAt = received + random.nextInt(MESSAGES_BETWEEN);
            goOnUntil(pair, cutAt);
            cut(pair, cut);
            for (int i = random.nextInt(50); i > 0; i--) {
                step(pair); // until the cut is noticed
            }
            assertThat(pair.move(ways.next(random))).as("seed %d", seed).isTrue();
        }
        sendsMore = false;
        goOnUntil(pair, sent);
        assertThat(received).isEqualTo(sent);
    }

    private void cut(ProtocolPair pair, Cut cut) {
        List<Integer> connections = pair.connections();
        switch (cut) {
            case NOTHING -> {}
            case A_CONNECTION -> TcpSockets.shutDown(connections.get(random.nextInt(connections.size())));
            case ALL_CONNECTIONS -> connections.forEach(TcpSockets::shutDownUnlessOver);
        }
    }

    private void goOnUntil(ProtocolPair pair, long messages) {
        Await.until(messages + " messages, seed " + seed, () -> {
            for (int i = 0; i < STEPS_AT_ONCE && received < messages; i++) {
                step(pair);
            }
            return received >= messages;
        });
    }

    private void step(ProtocolPair pair) {
        if (sendsMore && random.nextInt(3) > 0) {
            send(pair);
        }
        if (random.nextInt(3) > 0) {
            ask(pair);
        }
        pair.progress();
        take(pair);
    }

    private static byte content(long message, int at) {
        return (byte) (message * 31 + at * 7L);
    }

    private void send(ProtocolPair pair) {
        int slot = Requests.slot(sent);
        if (!isDone(pair.sends, sends, slot)) {
            return;
        }
        if (sizes.size() == sent) {
            sizes.add(SIZES[random.nextInt(SIZES.length)]);
        }
        int size = sizes.get((int) sent);
        long at = from + (long) slot * MAX;
        for (int i = 0; i < size; i++) {
            Memory.putByte(at + i, content(sent, i));
        }
        long request = pair.send(at, size, TAG);
        if (request > 0) {
            sends[slot] = request;
            sent++;
        }
    }

    /** Whether the slot's memory is free, as NCCL sees it. */
    private static boolean isDone(Requests requests, long[] handles, int slot) {
        if (handles[slot] == 0) {
            return true;
        }
        boolean done = requests.find(slot, handles[slot]) == Requests.DONE;
        if (done) {
            requests.take(slot);
            handles[slot] = 0;
        }
        return done;
    }

    private void ask(ProtocolPair pair) {
        int slot = Requests.slot(asked);
        if (receives[slot] == 0) {
            long request = pair.receive(to + (long) slot * MAX, MAX, TAG);
            if (request > 0) {
                receives[slot] = request;
                asked++;
            }
        }
    }

    private void take(ProtocolPair pair) {
        int slot = Requests.slot(received);
        if (receives[slot] == 0 || pair.receives.find(slot, receives[slot]) != Requests.DONE) {
            return;
        }
        int size = sizes.get((int) received);
        assertThat(pair.receives.size(slot)).isEqualTo(size);
        for (int i = 0; i < size; i++) {
            if (Memory.getByte(to + (long) slot * MAX + i) != content(received, i)) {
                throw new AssertionError("byte %d of message %d, seed %d".formatted(i, received, seed));
            }
        }
        pair.receives.take(slot);
        receives[slot] = 0;
        received++;
    }
}
