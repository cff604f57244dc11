package trigon.software.lanes;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
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
import trigon.software.device.LanePairs;
import trigon.software.device.Loopback;
import trigon.software.device.SoftwareVerbs;
import trigon.testsupport.Await;
import trigon.testsupport.NativeBuffer;
import trigon.testsupport.Seed;
import trigon.testsupport.verbs.ConnectedPair;
import trigon.verbs.MemoryRegion;
import trigon.verbs.WorkCompletionStatus;

/**
 * The first worker has two lanes with long messages, the second one a lane with short ones, which keep it awake: so the
 * second sends for the first, whenever that one is busy.
 */
@Timeout(180)
class HelpingWorkersTest {

    private static final int LONG = 1 << 20;
    private static final int SHORT = LanePairs.FROM_BYTES;

    /** Messages that one connection has under way. */
    private static final int SENDS = 6;

    /** So often a lane goes from hand to hand before it is believed that this does no harm. */
    private static final int ROUNDS = 10;

    private static final int SPINS = 10_000;

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
            LanePairs.start(pair, sends, from, source, to, target, length);
        }

        void finish(int sends) {
            for (int i = 0; i < sends; i++) {
                assertThat(pair.first().nextSend().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
                assertThat(pair.second().nextReceive().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
            }
        }

        void exchange() {
            start(1);
            finish(1);
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

    private final LaneWorkers workers = LaneWorkersTest.workers(2, Duration.ofMillis(100));
    private final SoftwareVerbs one = LanePairs.provider(workers);
    private final SoftwareVerbs other = LanePairs.provider(LaneWorkersTest.workers(2, Duration.ofNanos(10_000)));
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
        Loopback.closeUnused(one, other);
    }

    /** What has been sent on the lanes of the first worker. */
    private long sentForFirst() {
        return Arrays.stream(workers.started()[0].lanes().outgoing())
                .mapToLong(OutgoingLane::bytes)
                .sum();
    }

    /** Without a pause, so that the one who helps is still at it. */
    private boolean hasHelpedSoon(long before) {
        for (int i = 0; i < SPINS && sentForFirst() == before; i++) {
            Thread.onSpinWait();
        }
        return sentForFirst() > before;
    }

    /** Returns as soon as the second worker has sent something of what the first one is given to send. */
    private void helpWith(Runnable sends) throws IOException, InterruptedException {
        Stream awake = streams.get(1);
        try (BusyLane _ = new BusyLane(workers.started()[0])) {
            long before = sentForFirst();
            awake.exchange(); // now it looks for more work for a while
            sends.run();
            Await.until("the second worker has helped", () -> {
                if (hasHelpedSoon(before)) {
                    return true;
                }
                awake.exchange();
                return false;
            });
        }
    }

    /** Begun by the one that helps, ended by its own worker or by either. */
    @Test
    void theBytesArrive() throws IOException, InterruptedException {
        Random random = new Random(Seed.next());
        for (int i = 0; i < ROUNDS; i++) {
            streams.forEach(stream -> stream.from.randomize(random));
            List<Stream> busy = List.of(streams.getFirst(), streams.getLast());
            helpWith(() -> busy.forEach(stream -> stream.start(1)));
            for (Stream stream : busy) {
                stream.finish(1);
                assertThat(stream.to.bytes()).isEqualTo(stream.from.bytes());
            }
            Stream awake = streams.get(1);
            assertThat(awake.to.bytes()).isEqualTo(awake.from.bytes());
        }
    }

    /** At different moments of what is sent. */
    @ParameterizedTest
    @EnumSource
    void memoryIsLeftAlone(Ending ending) throws IOException, InterruptedException {
        Stream busy = streams.getFirst();
        for (int i = 0; i < ROUNDS; i++) {
            streams.removeLast().close();
            Stream ends = new Stream(LONG);
            streams.add(ends);
            ends.from.fill((byte) 1);
            helpWith(() -> ends.start(SENDS));
            for (int polls = 0; polls < i; polls++) {
                ends.pair.first().hasSend();
                ends.pair.second().hasReceive();
            }
            switch (ending) {
                case REGION -> ends.source.close();
                case QUEUE_PAIR -> ends.pair.first().queuePair().close();
            }
            ends.from.fill((byte) 2);
            busy.start(SENDS);
            busy.finish(SENDS);
            if (ending == Ending.REGION) {
                Await.until(
                        "they are sent, or have failed", () -> ends.pair.first().hasAllSends(SENDS));
                ends.pair.first().queuePair().close();
            }
            Await.until("nothing comes any more", () -> {
                ends.pair.second().hasReceive();
                return !ends.pair.second().queuePair().mayStillReceive();
            });
            assertThat(ends.to.holds(2)).isFalse();
        }
    }
}
