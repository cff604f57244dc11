package trigon.software;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import trigon.testsupport.Await;
import trigon.testsupport.ConnectedPair;
import trigon.testsupport.LedgerAssert;
import trigon.testsupport.NativeBuffer;
import trigon.testsupport.Seed;
import trigon.verbs.MemoryRegion;
import trigon.verbs.WorkCompletionStatus;

/**
 * The first worker has two lanes with long messages, the second one a lane with short ones, which keep it awake: so the
 * second sends for the first.
 */
@Timeout(180)
class HelpingWorkersTest {

    private static final int LONG = 4 << 20;
    private static final int SHORT = LanePairs.FROM_BYTES;

    /** Messages that one connection has under way. */
    private static final int SENDS = 6;

    /** So often a lane goes from hand to hand before it is believed that this does no harm. */
    private static final int HELPS = 3;

    /** What a queue pair sends, and where it arrives. */
    private final class Stream implements AutoCloseable {

        final ConnectedPair pair = LaneWorkersTest.connect(one, other);
        final int length;
        final NativeBuffer from;
        final NativeBuffer to;
        final MemoryRegion source;
        final MemoryRegion target;

        Stream(int length) {
            this.length = length;
            from = new NativeBuffer(length);
            to = new NativeBuffer(length);
            source = pair.first().register(from);
            target = pair.second().register(to);
        }

        void start(int sends) {
            for (int i = 0; i < sends; i++) {
                LanePairs.receive(pair, i, to, target, 0, length);
                LanePairs.send(pair, i, from, source, 0, length);
            }
        }

        void finish(int sends) {
            for (int i = 0; i < sends; i++) {
                assertThat(pair.first().nextSend().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
                assertThat(pair.second().nextReceive().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
            }
        }

        @Override
        public void close() {
            pair.close();
            from.close();
            to.close();
        }
    }

    /** What ends while others still send for it. */
    enum Ending {
        REGION,
        QUEUE_PAIR
    }

    private final SoftwareVerbs one = LaneWorkersTest.provider(2, Duration.ofMillis(100));
    private final SoftwareVerbs other = LaneWorkersTest.provider(2, Duration.ofNanos(10_000));
    private final List<Stream> streams = new ArrayList<>();

    @BeforeEach
    void open() {
        streams.add(new Stream(LONG));
        streams.add(new Stream(SHORT));
        streams.add(new Stream(LONG));
    }

    @AfterEach
    void close() {
        streams.forEach(Stream::close);
        LedgerAssert.assertNothingOpen(one);
        LedgerAssert.assertNothingOpen(other);
        one.close();
        other.close();
    }

    private long timesHelped() {
        return Arrays.stream(one.laneWorkers().started())
                .mapToLong(LaneWorker::timesHelped)
                .sum();
    }

    @Test
    void theBytesArrive() {
        Random random = new Random(Seed.next());
        Await.until("a worker has helped", () -> {
            for (Stream stream : streams) {
                stream.from.randomize(random);
                stream.start(1);
            }
            for (Stream stream : streams) {
                stream.finish(1);
                assertThat(stream.to.bytes()).isEqualTo(stream.from.bytes());
            }
            return timesHelped() >= HELPS;
        });
    }

    @ParameterizedTest
    @EnumSource
    void memoryIsLeftAlone(Ending ending) {
        Stream busy = streams.getFirst();
        Stream awake = streams.get(1);
        long[] round = new long[1];
        Await.until("a worker has helped", () -> {
            streams.removeLast().close();
            Stream ends = new Stream(LONG);
            streams.add(ends);
            ends.from.fill((byte) 1);
            busy.start(SENDS);
            ends.start(SENDS);
            awake.start(SENDS);
            for (long i = 0; i < round[0] % 10; i++) {
                ends.pair.first().hasSend();
                ends.pair.second().hasReceive();
            }
            round[0]++;
            switch (ending) {
                case REGION -> ends.source.close();
                case QUEUE_PAIR -> ends.pair.first().queuePair().close();
            }
            ends.from.fill((byte) 2);
            busy.finish(SENDS);
            awake.finish(SENDS);
            Await.until("nothing comes any more", () -> {
                ends.pair.second().hasReceive();
                return !ends.pair.second().queuePair().mayStillReceive();
            });
            assertThat(ends.to.bytes()).doesNotContain(2);
            return timesHelped() >= HELPS;
        });
    }
}
