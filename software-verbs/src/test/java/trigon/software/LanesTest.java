package trigon.software;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import trigon.testsupport.Await;
import trigon.testsupport.Completion;
import trigon.testsupport.ConnectedPair;
import trigon.testsupport.LedgerAssert;
import trigon.testsupport.NativeBuffer;
import trigon.testsupport.QueuePairSettings;
import trigon.testsupport.VerbsFabric;
import trigon.verbs.MemoryRegion;
import trigon.verbs.QueuePair;
import trigon.verbs.SendFlag;
import trigon.verbs.WorkCompletionStatus;

/** Messages in pieces arrive as if they had come in one, and end as if they had. */
@Timeout(60)
class LanesTest {

    private static final int FROM_BYTES = 2048;
    private static final int LONG = 4 << 20;
    private static final int WRITES = 12;

    private final SoftwareVerbs one = provider(3);
    private final SoftwareVerbs other = provider(2);

    private static SoftwareVerbs provider(int workers) {
        LaneSettings lanes = new LaneSettings(workers, 3, FROM_BYTES, FROM_BYTES / 2, Duration.ofNanos(20_000));
        return new SoftwareVerbs(List.of(Loopback.A, Loopback.B), lanes);
    }

    private ConnectedPair open() {
        return ConnectedPair.open(
                new VerbsFabric(
                        new VerbsFabric.End(one, "soft_a", 1, 0),
                        new VerbsFabric.End(other, "soft_b", 1, 0),
                        Optional.empty()),
                QueuePairSettings.DEFAULT);
    }

    @AfterEach
    void close() {
        LedgerAssert.assertNothingOpen(one);
        LedgerAssert.assertNothingOpen(other);
        one.close();
        other.close();
    }

    /** Sends messages that are long enough until they go in pieces. */
    private static void openLanes(ConnectedPair pair) {
        try (NativeBuffer from = new NativeBuffer(FROM_BYTES);
                NativeBuffer to = new NativeBuffer(FROM_BYTES)) {
            MemoryRegion local = pair.first().register(from);
            MemoryRegion remote = pair.second().register(to);
            Await.until("lanes", () -> {
                write(pair, 0, from, local, to, remote, 0, FROM_BYTES);
                assertThat(pair.first().nextSend().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
                return ((SoftwareQueuePair) pair.first().queuePair()).hasLanes();
            });
            local.close();
            remote.close();
        }
    }

    private static void write(
            ConnectedPair pair,
            long id,
            NativeBuffer from,
            MemoryRegion local,
            NativeBuffer to,
            MemoryRegion remote,
            int offset,
            int length) {
        assertThat(pair.first()
                        .queuePair()
                        .postWrite(
                                id,
                                from.at(offset),
                                length,
                                local.localKey(),
                                to.at(offset),
                                remote.remoteKey(),
                                SendFlag.SIGNALED))
                .isZero();
    }

    @Test
    void anyLengthArrivesAndCompletesInOrder() {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        int memory = 32 << 20;
        try (ConnectedPair pair = open();
                NativeBuffer from = new NativeBuffer(memory).randomize(random);
                NativeBuffer to = new NativeBuffer(memory)) {
            openLanes(pair);
            MemoryRegion local = pair.first().register(from);
            MemoryRegion remote = pair.second().register(to);
            int used = 0;
            int posted = 0;
            int done = 0;
            while (used < memory - (1 << 20)) {
                int length = random.nextInt(random.nextInt(4) == 0 ? 1 << 20 : 3 * FROM_BYTES);
                write(pair, posted++, from, local, to, remote, used, length);
                used += length;
                while (posted - done > random.nextInt(16)) {
                    Completion completion = pair.first().nextSend();
                    assertThat(completion.status()).as("seed %d", seed).isEqualTo(WorkCompletionStatus.SUCCESS);
                    assertThat(completion.workRequestId()).as("seed %d", seed).isEqualTo(done++);
                }
            }
            for (; done < posted; done++) {
                assertThat(pair.first().nextSend().workRequestId()).isEqualTo(done);
            }
            assertThat(to.bytes(0, used)).as("seed %d", seed).isEqualTo(from.bytes(0, used));
        }
    }

    @Test
    void whatIsWrittenToOnePlaceStaysInOrder() {
        int length = 64 << 10;
        try (ConnectedPair pair = open();
                NativeBuffer ones = new NativeBuffer(length).fill((byte) 1);
                NativeBuffer twos = new NativeBuffer(length).fill((byte) 2);
                NativeBuffer to = new NativeBuffer(length);
                NativeBuffer back = new NativeBuffer(length)) {
            openLanes(pair);
            MemoryRegion first = pair.first().register(ones);
            MemoryRegion second = pair.first().register(twos);
            MemoryRegion read = pair.first().register(back);
            MemoryRegion remote = pair.second().register(to);
            QueuePair queuePair = pair.first().queuePair();
            for (int i = 0; i < 200; i++) {
                write(pair, 1, ones, first, to, remote, 0, length);
                write(pair, 2, twos, second, to, remote, 0, length);
                queuePair.postRead(
                        3,
                        back.address(),
                        length,
                        read.localKey(),
                        to.address(),
                        remote.remoteKey(),
                        SendFlag.SIGNALED);
                for (int id = 1; id <= 3; id++) {
                    assertThat(pair.first().nextSend().workRequestId()).isEqualTo(id);
                }
                assertThat(back.bytes()).containsOnly(2);
                assertThat(to.bytes()).containsOnly(2);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void memoryIsLeftAloneOnceItsRegionIsClosed(boolean target) {
        for (int round = 0; round < 10; round++) {
            try (ConnectedPair pair = open();
                    NativeBuffer from = new NativeBuffer(LONG).fill((byte) 1);
                    NativeBuffer to = new NativeBuffer(LONG)) {
                openLanes(pair);
                MemoryRegion local = pair.first().register(from);
                MemoryRegion remote = pair.second().register(to);
                for (int i = 0; i < WRITES; i++) {
                    write(pair, i, from, local, to, remote, 0, LONG);
                }
                for (int i = 0; i < round; i++) {
                    Thread.onSpinWait();
                    pair.first().hasSend();
                }
                (target ? remote : local).close();
                (target ? to : from).fill((byte) 2);

                WorkCompletionStatus expected =
                        target ? WorkCompletionStatus.REMOTE_ACCESS_ERROR : WorkCompletionStatus.LOCAL_PROTECTION_ERROR;
                boolean failed = false;
                for (int i = 0; i < WRITES; i++) {
                    Completion done = pair.first().nextSend();
                    assertThat(done.workRequestId()).isEqualTo(i);
                    if (failed) {
                        assertThat(done.status()).isEqualTo(WorkCompletionStatus.WR_FLUSHED);
                    } else if (done.status() != WorkCompletionStatus.SUCCESS) {
                        assertThat(done.status()).isEqualTo(expected);
                        failed = true;
                    }
                }
                if (target) {
                    assertThat(to.bytes()).containsOnly(2);
                } else {
                    assertThat(to.bytes()).doesNotContain(2);
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void memoryIsLeftAloneOnceAQueuePairIsClosed(boolean senders) {
        for (int round = 0; round < 10; round++) {
            try (ConnectedPair pair = open();
                    NativeBuffer from = new NativeBuffer(LONG).fill((byte) 1);
                    NativeBuffer to = new NativeBuffer(LONG)) {
                openLanes(pair);
                MemoryRegion local = pair.first().register(from);
                MemoryRegion remote = pair.second().register(to);
                for (int i = 0; i < WRITES; i++) {
                    write(pair, i, from, local, to, remote, 0, LONG);
                }
                if (senders) {
                    pair.first().queuePair().close();
                    from.fill((byte) 2);
                    remote.close();
                    assertThat(to.bytes()).doesNotContain(2);
                } else {
                    pair.second().queuePair().close();
                    to.fill((byte) 2);
                    Completion done = pair.first().nextSend();
                    while (done.status() == WorkCompletionStatus.SUCCESS) {
                        done = pair.first().nextSend();
                    }
                    assertThat(done.status()).isEqualTo(WorkCompletionStatus.RETRY_EXCEEDED);
                    assertThat(to.bytes()).containsOnly(2);
                }
            }
        }
    }

    /** What cannot be sent is, for the test, longer than its region. */
    @Test
    void aLaneThatFailsEndsNoWorker() throws IOException {
        try (ConnectedPair pair = open();
                ConnectedPair bystander = open();
                NativeBuffer from = new NativeBuffer(LONG).randomize(new Random(4));
                NativeBuffer to = new NativeBuffer(LONG)) {
            openLanes(pair);
            openLanes(bystander);
            MemoryRegion local = bystander.first().register(from);
            MemoryRegion remote = bystander.second().register(to);
            SoftwareQueuePair queuePair = (SoftwareQueuePair) bystander.first().queuePair();
            for (int worker = 0; worker < 3; worker++) {
                SocketChannel channel = SocketChannel.open();
                channel.configureBlocking(false);
                LaneWorker mine = one.laneWorkers().nextForSending();
                OutgoingLane bad = new OutgoingLane(channel, queuePair, mine);
                mine.add(bad);
                bad.offer(0, (SoftwareMemoryRegion) local, from.address(), LONG + 1, to.address(), 0, LONG + 1);
                Await.until("the lane breaks", bad::isBroken);
                mine.remove(bad);
            }
            for (ConnectedPair each : List.of(pair, bystander)) {
                MemoryRegion source = each.first().register(from);
                MemoryRegion target = each.second().register(to);
                to.fill((byte) 0);
                write(each, 1, from, source, to, target, 0, LONG);
                assertThat(each.first().nextSend().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
                assertThat(to.bytes()).isEqualTo(from.bytes());
                source.close();
                target.close();
            }
            assertThat(remote.length()).isEqualTo(LONG);
        }
    }

    @Test
    void aPeerWithoutWorkersGetsMessagesInOnePiece() {
        SoftwareVerbs plain = new SoftwareVerbs(List.of(Loopback.B), LaneSettings.NONE);
        try (ConnectedPair pair = ConnectedPair.open(
                        new VerbsFabric(
                                new VerbsFabric.End(one, "soft_a", 1, 0),
                                new VerbsFabric.End(plain, "soft_b", 1, 0),
                                Optional.empty()),
                        QueuePairSettings.DEFAULT);
                NativeBuffer from = new NativeBuffer(LONG).randomize(new Random(3));
                NativeBuffer to = new NativeBuffer(LONG)) {
            MemoryRegion local = pair.first().register(from);
            MemoryRegion remote = pair.second().register(to);
            for (int i = 0; i < 20; i++) {
                write(pair, i, from, local, to, remote, 0, LONG);
                assertThat(pair.first().nextSend().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
            }
            assertThat(((SoftwareQueuePair) pair.first().queuePair()).hasLanes())
                    .isFalse();
            assertThat(to.bytes()).isEqualTo(from.bytes());
        }
        LedgerAssert.assertNothingOpen(plain);
        plain.close();
    }

    @Test
    void areForMachinesWithCoresToSpare() {
        assertThat(LaneSettings.forCores(2)).isEqualTo(LaneSettings.NONE);
        assertThat(LaneSettings.forCores(20).workers()).isEqualTo(5);
        assertThat(LaneSettings.forCores(1000).workers()).isEqualTo(8);
    }
}
