package trigon.software.device;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import trigon.software.MoverSettings;
import trigon.system.Memory;
import trigon.testsupport.Await;
import trigon.testsupport.LedgerAssert;
import trigon.testsupport.NativeBuffer;
import trigon.testsupport.Seed;
import trigon.testsupport.verbs.Completion;
import trigon.testsupport.verbs.ConnectedPair;
import trigon.testsupport.verbs.QueuePairSettings;
import trigon.testsupport.verbs.VerbsEnd;
import trigon.verbs.MemoryRegion;
import trigon.verbs.QueuePairAttributes;
import trigon.verbs.QueuePairStateCode;
import trigon.verbs.SendFlag;
import trigon.verbs.WorkCompletionStatus;

/** SENDs that are complete once the peer's receive has them, and those of which the peer says so later. */
@Timeout(120)
class DeliveredSendTest {

    private static final int DELIVERED = SendFlag.SIGNALED | SendFlag.DELIVERY_COMPLETE;
    private static final int TOLD = DELIVERED | SendFlag.INJECT_COMPLETE;
    private static final int INJECTED = SendFlag.SIGNALED | SendFlag.INJECT_COMPLETE;

    private SoftwareVerbs one = new SoftwareVerbs(List.of(Loopback.A), Loopback.MOVERS);
    private SoftwareVerbs other = new SoftwareVerbs(List.of(Loopback.B), Loopback.MOVERS);

    private void useNoMovers() {
        one.close();
        other.close();
        one = new SoftwareVerbs(List.of(Loopback.A), MoverSettings.NONE);
        other = new SoftwareVerbs(List.of(Loopback.B), MoverSettings.NONE);
    }

    @AfterEach
    void nothingIsLeftOpen() {
        LedgerAssert.assertNothingOpen(one);
        LedgerAssert.assertNothingOpen(other);
        one.close();
        other.close();
    }

    private ConnectedPair open() {
        QueuePairSettings like = Loopback.PATIENT;
        return Pairs.open(
                one,
                other,
                new QueuePairSettings(
                        like.workRequests(),
                        like.completions(),
                        like.inlineBytes(),
                        like.access(),
                        like.psn(),
                        like.readAtomic(),
                        like.timeout(),
                        like.retryCount(),
                        0,
                        like.minRnrTimer(),
                        like.key()));
    }

    private static void post(ConnectedPair pair, int id, NativeBuffer from, MemoryRegion local, int length, int flags) {
        assertThat(pair.first()
                        .queuePair()
                        .postSendWithImmediate(id, from.address(), length, local.localKey(), ~id, flags))
                .isZero();
    }

    private static void receive(ConnectedPair pair, int id, NativeBuffer to, MemoryRegion target, int length) {
        assertThat(pair.second().queuePair().postReceive(id, to.address(), length, target.localKey()))
                .isZero();
    }

    /** However long the peer is silent, of which an ordinary request would fail. */
    @ParameterizedTest
    @ValueSource(ints = {0, 100, 5000, 100_000})
    void waitsForItsReceiveHoweverLongThatTakes(int length) {
        try (ConnectedPair pair = open();
                NativeBuffer from = new NativeBuffer(length).randomize(new Random(length));
                NativeBuffer to = new NativeBuffer(length)) {
            MemoryRegion local = pair.first().register(from);
            MemoryRegion target = pair.second().register(to);

            Pairs.exchange(pair, 100); // the connection is there
            post(pair, 1, from, local, length, DELIVERED);
            for (int day = 0; day < 3; day++) {
                Pairs.letADayPass(pair);
                pair.second().hasReceive();
                assertThat(pair.first().hasSend()).isFalse();
            }
            receive(pair, 1, to, target, length);

            assertThat(pair.second().nextReceive().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
            assertThat(pair.first().nextSend().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
            assertThat(to.bytes()).isEqualTo(from.bytes());
        }
    }

    @Test
    void anOrdinaryRequestDoesNotWaitForASilentPeer() {
        try (ConnectedPair pair = Pairs.create(one, other)) {
            pair.first().becomeReadyToReceive(pair.second().endpoint());
            pair.first().becomeReadyToSend();
            pair.first().queuePair().postSend(1, 0, 0, 0, SendFlag.SIGNALED);

            Pairs.letADayPass(pair);

            assertThat(pair.first().nextSend().status()).isEqualTo(WorkCompletionStatus.RETRY_EXCEEDED);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 100, 5000, 100_000})
    void aSendThatIsCompleteAtOnceIsToldOfLater(int length) {
        try (ConnectedPair pair = open();
                NativeBuffer from = new NativeBuffer(length);
                NativeBuffer to = new NativeBuffer(length)) {
            MemoryRegion local = pair.first().register(from);
            MemoryRegion target = pair.second().register(to);

            post(pair, 1, from, local, length, INJECTED);
            post(pair, 2, from, local, length, TOLD);
            assertThat(pair.first().nextSend().workRequestId()).isEqualTo(1);
            assertThat(pair.first().nextSend().workRequestId()).isEqualTo(2);
            assertThat(delivered(pair)).isZero();

            receive(pair, 1, to, target, length);
            receive(pair, 2, to, target, length);
            Await.until("the peer has both", () -> {
                pair.second().hasReceive();
                pair.first().hasSend();
                return delivered(pair) == 2;
            });
        }
    }

    /** All kinds of SENDs in any order: each byte arrives, completions are in order, and no success is too early. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void anyMixture(boolean movers) {
        if (!movers) {
            useNoMovers();
        }
        int[] kinds = {SendFlag.SIGNALED, INJECTED, DELIVERED, TOLD};
        int[] lengths = {0, 8, 700, 1500, 3000, 20_000, 90_000};
        int most = 90_000;
        int messages = 4000;
        int window = 16;
        long seed = Seed.next();
        Random random = new Random(seed);
        int[] length = new int[messages];
        int[] flags = new int[messages];
        for (int i = 0; i < messages; i++) {
            length[i] = lengths[random.nextInt(lengths.length)];
            flags[i] = kinds[random.nextInt(kinds.length)];
        }
        try (ConnectedPair pair = Pairs.open(one, other);
                NativeBuffer from = new NativeBuffer(window * most);
                NativeBuffer to = new NativeBuffer(window * most)) {
            MemoryRegion local = pair.first().register(from);
            MemoryRegion target = pair.second().register(to);
            int posted = 0;
            int sent = 0;
            int receives = 0;
            int received = 0;
            while (received < messages || sent < messages) {
                if (receives < messages && receives - received < window && (random.nextBoolean() || posted == sent)) {
                    assertThat(pair.second()
                                    .queuePair()
                                    .postReceive(
                                            receives, to.at((long) receives % window * most), most, target.localKey()))
                            .isZero();
                    receives++;
                }
                if (posted < messages && posted - Math.min(sent, received) < window) {
                    long at = (long) posted % window * most;
                    Memory.fill(from.at(at), length[posted], (byte) posted);
                    assertThat(pair.first()
                                    .queuePair()
                                    .postSendWithImmediate(
                                            posted,
                                            from.at(at),
                                            length[posted],
                                            local.localKey(),
                                            posted,
                                            flags[posted]))
                            .isZero();
                    posted++;
                }
                while (pair.second().hasReceive()) {
                    Completion arrived = pair.second().nextReceive();
                    assertThat(arrived.status()).isEqualTo(WorkCompletionStatus.SUCCESS);
                    assertThat(arrived.immediate()).isEqualTo(received);
                    assertThat(arrived.byteLength()).isEqualTo(length[received]);
                    byte[] wanted = new byte[length[received]];
                    Arrays.fill(wanted, (byte) received);
                    assertThat(to.bytes(received % window * most, length[received]))
                            .as("message %d, seed %d", received, seed)
                            .isEqualTo(wanted);
                    received++;
                }
                while (pair.first().hasSend()) {
                    Completion done = pair.first().nextSend();
                    assertThat(done.status()).isEqualTo(WorkCompletionStatus.SUCCESS);
                    assertThat(done.workRequestId()).isEqualTo(sent);
                    boolean early = (flags[sent] & SendFlag.INJECT_COMPLETE) != 0;
                    // what is complete here may be in the other queue still, and is there with its next poll
                    if (!early && sent >= received) {
                        pair.second().hasReceive();
                        assertThat(pair.second().hasReceive()).isTrue();
                    }
                    sent++;
                }
                assertThat(delivered(pair)).isLessThanOrEqualTo(receives);
            }
        }
    }

    /** Successes first, then the rest, then what is posted afterwards: in both queues. */
    @Test
    void aQueuePairInErrorFlushesInOrder() {
        int length = 10;
        try (ConnectedPair pair = open();
                NativeBuffer from = new NativeBuffer(length);
                NativeBuffer to = new NativeBuffer(length)) {
            MemoryRegion local = pair.first().register(from);
            MemoryRegion target = pair.second().register(to);
            receive(pair, 0, to, target, length);
            receive(pair, 1, to, target, length);
            for (int i = 0; i < 5; i++) {
                post(pair, i, from, local, length, DELIVERED);
            }
            Await.until("two have come", () -> {
                pair.second().hasReceive();
                return delivered(pair) == 2 || pair.first().hasAllSends(2);
            });

            for (VerbsEnd end : List.of(pair.first(), pair.second())) {
                end.queuePair()
                        .modify(QueuePairAttributes.to(QueuePairStateCode.ERROR).build());
            }
            post(pair, 99, from, local, 0, SendFlag.SIGNALED);
            receive(pair, 99, to, target, 0);

            for (int i = 0; i < 5; i++) {
                Completion each = pair.first().nextSend();
                assertThat(each.workRequestId()).isEqualTo(i);
                if (i < 2) {
                    assertThat(each.status()).isEqualTo(WorkCompletionStatus.SUCCESS);
                }
            }
            assertThat(pair.second().nextReceive().workRequestId()).isZero();
            assertThat(pair.second().nextReceive().workRequestId()).isEqualTo(1);
            for (Completion marker :
                    List.of(pair.first().nextSend(), pair.second().nextReceive())) {
                assertThat(marker.workRequestId()).isEqualTo(99);
                assertThat(marker.status()).isEqualTo(WorkCompletionStatus.WR_FLUSHED);
            }
            assertThat(delivered(pair)).isEqualTo(2);
        }
    }

    private static long delivered(ConnectedPair pair) {
        return Memory.getLongOpaque(
                pair.first().queuePair().nativePost().orElseThrow().delivered());
    }
}
