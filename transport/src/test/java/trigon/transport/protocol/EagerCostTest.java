package trigon.transport.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.util.Arrays;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import trigon.transport.request.RequestRow;
import trigon.transport.request.Requests;

/**
 * What it costs that messages can be sent again: both kinds of senders in one run, in turns, over loopback, moved by
 * one thread. Prints; {@code -Dtrigon.cost.blocks=40} runs it.
 */
@EnabledIfSystemProperty(named = EagerCostTest.BLOCKS, matches = ".*", disabledReason = "a measurement")
@Timeout(600)
class EagerCostTest {

    static final String BLOCKS = "trigon.cost.blocks";

    private static final int UNDER_WAY = 8;
    private static final int TAG = 1;
    private static final long BLOCK_BYTES = 64L << 20;

    private final int blocks = Integer.getInteger(BLOCKS, 40);

    /** One kind of sender, and what its blocks took. */
    private static final class Side implements AutoCloseable {
        private final ProtocolPair pair;
        private final Arena arena = Arena.ofShared();
        private final long from;
        private final long to;
        private final double[] nanos;
        private final long[] sends = new long[RequestRow.REQUESTS];
        private final long[] receives = new long[RequestRow.REQUESTS];
        private long sent;
        private long done;
        private long asked;
        private long received;

        Side(boolean resumable, int size, int blocks) {
            pair = new ProtocolPair(MessageProtocol.EAGER, resumable);
            from = arena.allocate(Math.max(64, (long) size), 64).address();
            to = arena.allocate(Math.max(64, (long) size), 64).address();
            pair.register(from, to, Math.max(64, size));
            nanos = new double[blocks];
        }

        /** So many messages; returns nanoseconds for each. */
        double run(int size, long messages, int underWay) {
            long last = received + messages;
            long begin = System.nanoTime();
            while (received < last || done < last) {
                if (asked < last && asked - received < underWay) {
                    receives[Requests.slot(asked)] = pair.receive(to, size, TAG);
                    asked++;
                }
                if (sent < last && sent - done < underWay && sent < asked) {
                    long request = pair.send(from, size, TAG);
                    if (request > 0) {
                        sends[Requests.slot(sent++)] = request;
                    }
                }
                pair.progress();
                if (received < asked && isDone(pair.receives, receives[Requests.slot(received)], received)) {
                    received++;
                }
                if (done < sent && isDone(pair.sends, sends[Requests.slot(done)], done)) {
                    done++;
                }
            }
            return (System.nanoTime() - begin) / (double) messages;
        }

        private static boolean isDone(Requests requests, long request, long sequence) {
            boolean done = requests.find(Requests.slot(sequence), request) == Requests.DONE;
            if (done) {
                requests.take(Requests.slot(sequence));
            }
            return done;
        }

        @Override
        public void close() {
            pair.close();
            arena.close();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {8, 1024, 4096, 65_536, 1 << 20})
    void sendersInTurns(int size) {
        long messages = Math.clamp(BLOCK_BYTES / size, 50, 4000);
        for (int underWay : new int[] {1, UNDER_WAY}) {
            try (Side once = new Side(false, size, blocks);
                    Side again = new Side(true, size, blocks)) {
                for (int i = 0; i < 5; i++) { // compiled by then
                    once.run(size, messages, underWay);
                    again.run(size, messages, underWay);
                }
                for (int block = 0; block < blocks; block++) {
                    once.nanos[block] = once.run(size, messages, underWay);
                    again.nanos[block] = again.run(size, messages, underWay);
                }
                System.err.printf(
                        "%d bytes, %d under way: %.0f ns a message as it is, %.0f ns where it can be sent again%n",
                        size, underWay, median(once.nanos), median(again.nanos));
                assertThat(again.received).isEqualTo(once.received).isEqualTo((blocks + 5) * messages);
            }
        }
    }

    private static double median(double... values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }
}
