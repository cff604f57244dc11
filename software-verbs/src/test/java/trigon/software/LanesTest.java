package trigon.software;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
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
import trigon.testsupport.Seed;
import trigon.testsupport.VerbsFabric;
import trigon.verbs.Memory;
import trigon.verbs.MemoryRegion;
import trigon.verbs.QueuePair;
import trigon.verbs.QueuePairStateCode;
import trigon.verbs.SendFlag;
import trigon.verbs.WorkCompletionStatus;

/** Messages in pieces arrive as if they had come in one, and end as if they had. */
@Timeout(180)
class LanesTest {

    static final int FROM_BYTES = 2048;
    private static final int LONG = 4 << 20;
    /** More than the sockets of three lanes take, with 4 MiB for what is sent and 6 MiB for what is received. */
    private static final int HUGE = 48 << 20;

    private static final int MIDDLE = 90_000;
    /** More of them by the system property trigon.rounds. */
    private static final int ROUNDS = Integer.parseInt(System.getProperty("trigon.rounds", "40"));

    private static final int SENDS = 12;
    private static final int INJECTED = SendFlag.SIGNALED | SendFlag.INJECT_COMPLETE;

    private final SoftwareVerbs one = provider(2, 1);
    private final SoftwareVerbs other = provider(2, 2);

    private static SoftwareVerbs provider(int workers, int others) {
        LaneSettings lanes = new LaneSettings(
                new LaneSettings.Workers(workers, Duration.ofNanos(20_000)),
                new LaneSettings.Workers(others, Duration.ofNanos(1000)),
                3,
                new LaneSettings.Cut(FROM_BYTES, FROM_BYTES / 2, FROM_BYTES / 2, Integer.MAX_VALUE));
        return new SoftwareVerbs(List.of(Loopback.A, Loopback.B), lanes);
    }

    private ConnectedPair open() {
        return open(one, other);
    }

    private static ConnectedPair open(SoftwareVerbs sender, SoftwareVerbs receiver) {
        return ConnectedPair.open(
                new VerbsFabric(
                        new VerbsFabric.End(sender, "soft_a", 1, 0),
                        new VerbsFabric.End(receiver, "soft_b", 1, 0),
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
    static void openLanes(ConnectedPair pair) {
        try (NativeBuffer from = new NativeBuffer(FROM_BYTES);
                NativeBuffer to = new NativeBuffer(FROM_BYTES)) {
            MemoryRegion local = pair.first().register(from);
            MemoryRegion remote = pair.second().register(to);
            Await.until("lanes", () -> {
                receive(pair, 0, to, remote, 0, FROM_BYTES);
                send(pair, 0, from, local, 0, FROM_BYTES);
                assertThat(pair.first().nextSend().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
                assertThat(pair.second().nextReceive().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
                return ((SoftwareQueuePair) pair.first().queuePair()).hasLanes();
            });
            local.close();
            remote.close();
        }
    }

    static void send(ConnectedPair pair, int id, NativeBuffer from, MemoryRegion local, int offset, int length) {
        assertThat(pair.first()
                        .queuePair()
                        .postSendWithImmediate(id, from.at(offset), length, local.localKey(), ~id, INJECTED))
                .isZero();
    }

    static void receive(ConnectedPair pair, int id, NativeBuffer to, MemoryRegion target, int offset, int length) {
        assertThat(pair.second().queuePair().postReceive(id, to.at(offset), length, target.localKey()))
                .isZero();
    }

    /** Nothing waits until the connection is there, nor for its lanes; receives are posted a few at a time. */
    @Test
    void areOpenedWhileMessagesFlow() {
        Random random = new Random(Seed.next());
        int messages = 24;
        int[] lengths = new int[messages];
        for (int round = 0; round < ROUNDS; round++) {
            try (ConnectedPair pair = open();
                    NativeBuffer from = new NativeBuffer(messages * MIDDLE).randomize(random);
                    NativeBuffer to = new NativeBuffer(messages * MIDDLE)) {
                MemoryRegion local = pair.first().register(from);
                MemoryRegion remote = pair.second().register(to);
                int longest = 1 + random.nextInt(MIDDLE);
                for (int i = 0; i < messages; i++) {
                    lengths[i] = switch (random.nextInt(6)) {
                        case 0 -> random.nextInt(longest);
                        case 1 -> 0;
                        default -> longest;
                    };
                    send(pair, i, from, local, i * MIDDLE, lengths[i]);
                }
                int posted = 0;
                for (int done = 0; done < messages; done++) {
                    while (posted < messages && posted - done < 3) {
                        receive(pair, posted, to, remote, posted * MIDDLE, MIDDLE);
                        posted++;
                    }
                    assertThat(pair.second().nextReceive().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
                }
                for (int done = 0; done < messages; done++) {
                    assertThat(pair.first().nextSend().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
                }
                for (int i = 0; i < messages; i++) {
                    int at = i * MIDDLE;
                    long mismatch =
                            Memory.segment(from.at(at), lengths[i]).mismatch(Memory.segment(to.at(at), lengths[i]));
                    assertThat(mismatch)
                            .as("first byte that differs in message %d of round %d", i, round)
                            .isEqualTo(-1);
                }
            }
        }
    }

    /** Lanes of a worker share a buffer, and it reads into that while others prepare its next lane. */
    @Test
    void openWhileTheirWorkerReceivesOnOthers() throws InterruptedException {
        SoftwareVerbs crowded = provider(1, 0);
        try (ConnectedPair busy = open(one, crowded);
                NativeBuffer from = new NativeBuffer(MIDDLE).randomize(new Random(7));
                NativeBuffer to = new NativeBuffer(MIDDLE)) {
            openLanes(busy);
            MemoryRegion local = busy.first().register(from);
            MemoryRegion remote = busy.second().register(to);
            AtomicBoolean over = new AtomicBoolean();
            AtomicReference<Throwable> failure = new AtomicReference<>();
            Thread traffic = Thread.ofPlatform().start(() -> {
                try {
                    for (int i = 0; !over.get(); i++) {
                        receive(busy, i, to, remote, 0, MIDDLE);
                        send(busy, i, from, local, 0, MIDDLE);
                        assertThat(busy.second().nextReceive().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
                        assertThat(busy.first().nextSend().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
                    }
                    assertThat(to.bytes()).isEqualTo(from.bytes());
                } catch (Throwable e) {
                    failure.set(e);
                }
            });
            try {
                for (int round = 0; round < ROUNDS; round++) {
                    try (ConnectedPair pair = open(one, crowded)) {
                        openLanes(pair);
                    }
                }
            } finally {
                over.set(true);
                traffic.join();
            }
            assertThat(failure.get()).isNull();
        }
        LedgerAssert.assertNothingOpen(crowded);
        crowded.close();
    }

    /** Receives are posted before and after their messages come, and other requests are between them. */
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
            QueuePair sender = pair.first().queuePair();
            QueuePair receiver = pair.second().queuePair();
            int[] offsets = new int[100_000];
            int[] lengths = new int[100_000];
            boolean[] writes = new boolean[100_000];
            int used = 0;
            int posted = 0;
            int sent = 0;
            int received = 0;
            int receives = 0;
            while (used < memory - (1 << 20) || received < posted) {
                if (used < memory - (1 << 20) && posted - received < 30) {
                    int length = switch (random.nextInt(8)) {
                        case 0, 1 -> random.nextInt(1 << 20);
                        case 2 -> 0;
                        default -> random.nextInt(3 * FROM_BYTES);
                    };
                    boolean write = random.nextInt(5) == 0;
                    offsets[posted] = used;
                    lengths[posted] = length;
                    writes[posted] = write;
                    if (write) {
                        assertThat(sender.postWriteWithImmediate(
                                        posted,
                                        from.at(used),
                                        length,
                                        local.localKey(),
                                        to.at(used),
                                        remote.remoteKey(),
                                        ~posted,
                                        SendFlag.SIGNALED))
                                .isZero();
                    } else {
                        send(pair, posted, from, local, used, length);
                    }
                    posted++;
                    used += length;
                }
                if (receives < posted && random.nextBoolean()) {
                    int length = writes[receives] ? 0 : lengths[receives];
                    assertThat(receiver.postReceive(receives, to.at(offsets[receives]), length, remote.localKey()))
                            .isZero();
                    receives++;
                }
                while (pair.first().hasSend()) {
                    Completion done = pair.first().nextSend();
                    assertThat(done.status()).as("seed %d", seed).isEqualTo(WorkCompletionStatus.SUCCESS);
                    assertThat(done.workRequestId()).as("seed %d", seed).isEqualTo(sent++);
                }
                while (pair.second().hasReceive()) {
                    Completion done = pair.second().nextReceive();
                    assertThat(done.status()).as("seed %d", seed).isEqualTo(WorkCompletionStatus.SUCCESS);
                    assertThat(done.workRequestId()).as("seed %d", seed).isEqualTo(received);
                    assertThat(done.immediate()).as("seed %d", seed).isEqualTo(~received);
                    assertThat(done.byteLength()).as("seed %d", seed).isEqualTo(lengths[received]);
                    received++;
                }
            }
            for (; sent < posted; sent++) {
                assertThat(pair.first().nextSend().workRequestId()).isEqualTo(sent);
            }
            assertThat(to.bytes(0, used)).as("seed %d", seed).isEqualTo(from.bytes(0, used));
        }
    }

    /** They go on the lanes, too, since the long one is not done before there is a receive for it. */
    @Test
    void shortAndEmptyOnesMayComeBehindALongOne() {
        try (ConnectedPair pair = open();
                NativeBuffer from = new NativeBuffer(HUGE + LONG).randomize(new Random(6));
                NativeBuffer to = new NativeBuffer(HUGE + LONG)) {
            openLanes(pair);
            MemoryRegion local = pair.first().register(from);
            MemoryRegion remote = pair.second().register(to);
            int[] lengths = {HUGE, 0, 10, 0, 0, FROM_BYTES - 1, 2 * FROM_BYTES, 0};
            for (int i = 0; i < lengths.length; i++) {
                if (lengths[i] > 0) {
                    send(pair, i, from, local, i == 0 ? 0 : HUGE + i * 2 * FROM_BYTES, lengths[i]);
                } else { // of no memory
                    assertThat(pair.first().queuePair().postSendWithImmediate(i, 0, 0, 0, ~i, INJECTED))
                            .isZero();
                }
            }
            assertThat(pair.first().hasSend()).isFalse();
            for (int i = 0; i < lengths.length; i++) {
                receive(pair, i, to, remote, i == 0 ? 0 : HUGE + i * 2 * FROM_BYTES, lengths[i]);
                Completion done = pair.second().nextReceive();
                assertThat(done.status()).isEqualTo(WorkCompletionStatus.SUCCESS);
                assertThat(done.workRequestId()).isEqualTo(i);
                assertThat(done.immediate()).isEqualTo(~i);
                assertThat(done.byteLength()).isEqualTo(lengths[i]);
            }
            for (int i = 0; i < lengths.length; i++) {
                Completion done = pair.first().nextSend();
                assertThat(done.status()).isEqualTo(WorkCompletionStatus.SUCCESS);
                assertThat(done.workRequestId()).isEqualTo(i);
                int at = i == 0 ? 0 : HUGE + i * 2 * FROM_BYTES;
                assertThat(to.bytes(at, lengths[i])).isEqualTo(from.bytes(at, lengths[i]));
            }
        }
    }

    /** Messages wait in the sockets for their receives, however long, and none of them is lost with its sender. */
    @Test
    void whatWasCompleteArrivesAfterItsSenderIsGone() {
        int length = 20_000;
        try (ConnectedPair pair = open();
                NativeBuffer from = new NativeBuffer(SENDS * length).randomize(new Random(5));
                NativeBuffer to = new NativeBuffer(SENDS * length)) {
            openLanes(pair);
            MemoryRegion local = pair.first().register(from);
            MemoryRegion remote = pair.second().register(to);
            for (int i = 0; i < SENDS; i++) {
                // long and short ones in turns
                send(pair, i, from, local, i * length, i % 3 == 0 ? 10 : length);
            }
            for (int i = 0; i < SENDS; i++) {
                assertThat(pair.first().nextSend().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
            }
            pair.first().queuePair().close();
            local.close();
            from.fill((byte) 0);

            assertThat(pair.second().queuePair().mayStillReceive()).isTrue();
            from.randomize(new Random(5));
            for (int i = 0; i < SENDS; i++) {
                receive(pair, i, to, remote, i * length, length);
                Completion done = pair.second().nextReceive();
                assertThat(done.status()).isEqualTo(WorkCompletionStatus.SUCCESS);
                assertThat(done.workRequestId()).isEqualTo(i);
                assertThat(done.byteLength()).isEqualTo(i % 3 == 0 ? 10 : length);
                assertThat(to.bytes(i * length, done.byteLength()))
                        .isEqualTo(from.bytes(i * length, done.byteLength()));
            }
            Await.until("the end of the connection is seen", () -> {
                assertThat(pair.second().hasReceive()).isFalse();
                return !pair.second().queuePair().mayStillReceive();
            });
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aMessageTooLongForItsReceiveFailsThere(boolean tooLong) {
        try (ConnectedPair pair = open();
                NativeBuffer from = new NativeBuffer(LONG);
                NativeBuffer to = new NativeBuffer(LONG)) {
            openLanes(pair);
            MemoryRegion local = pair.first().register(from);
            MemoryRegion remote = pair.second().register(to);
            receive(pair, 0, to, remote, 0, 100_000);
            if (tooLong) {
                receive(pair, 1, to, remote, 0, 99_999);
            } else { // not registered
                assertThat(pair.second().queuePair().postReceive(1, to.at(0), 100_000, remote.localKey() + 1))
                        .isZero();
            }
            receive(pair, 2, to, remote, 0, 100_000);
            for (int i = 0; i < 3; i++) {
                send(pair, i, from, local, 0, 100_000);
            }
            assertThat(pair.second().nextReceive().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
            Completion failed = pair.second().nextReceive();
            assertThat(failed.workRequestId()).isEqualTo(1);
            assertThat(failed.status())
                    .isEqualTo(
                            tooLong
                                    ? WorkCompletionStatus.LOCAL_LENGTH_ERROR
                                    : WorkCompletionStatus.LOCAL_PROTECTION_ERROR);
            assertThat(pair.second().nextReceive().status()).isEqualTo(WorkCompletionStatus.WR_FLUSHED);
            Await.until("the sender's end fails, too", () -> {
                pair.first().hasSend();
                return pair.first().queuePair().queryState() == QueuePairStateCode.ERROR;
            });
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
                for (int i = 0; i < SENDS; i++) {
                    receive(pair, i, to, remote, 0, LONG);
                }
                for (int i = 0; i < SENDS; i++) {
                    send(pair, i, from, local, 0, LONG);
                }
                for (int i = 0; i < round; i++) {
                    Thread.onSpinWait();
                    pair.first().hasSend();
                    pair.second().hasReceive();
                }
                (target ? remote : local).close();
                (target ? to : from).fill((byte) 2);

                boolean failed = false;
                for (int i = 0; i < SENDS; i++) {
                    Completion done =
                            target ? pair.second().nextReceive() : pair.first().nextSend();
                    assertThat(done.workRequestId()).isEqualTo(i);
                    if (failed) {
                        assertThat(done.status()).isEqualTo(WorkCompletionStatus.WR_FLUSHED);
                    } else if (done.status() != WorkCompletionStatus.SUCCESS) {
                        assertThat(done.status()).isEqualTo(WorkCompletionStatus.LOCAL_PROTECTION_ERROR);
                        failed = true;
                    }
                }
                if (target) {
                    assertThat(failed).isTrue();
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
                for (int i = 0; i < SENDS; i++) {
                    receive(pair, i, to, remote, 0, LONG);
                }
                for (int i = 0; i < SENDS; i++) {
                    send(pair, i, from, local, 0, LONG);
                }
                if (senders) {
                    pair.first().queuePair().close();
                    from.fill((byte) 2);
                    Await.until("the end of the connection is seen", () -> {
                        pair.second().hasReceive();
                        return !pair.second().queuePair().mayStillReceive();
                    });
                    assertThat(to.bytes()).doesNotContain(2);
                } else {
                    pair.second().queuePair().close();
                    to.fill((byte) 2);
                    Await.until("sending fails", () -> {
                        if (pair.first().hasSend()
                                && pair.first().nextSend().status() == WorkCompletionStatus.RETRY_EXCEEDED) {
                            return true;
                        }
                        pair.first().queuePair().postSend(9, from.address(), LONG, local.localKey(), INJECTED);
                        return false;
                    });
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
                OutgoingLane bad =
                        deal(1 + worker, mine -> new OutgoingLane(channel, 1, queuePair, mine, new SentPieces()));
                bad.offer(
                        (SoftwareMemoryRegion) local, from.address(), WireFormat.SEND, 0, 0, LONG + 1, 0, LONG + 1, 0);
                Await.until("the lane breaks", bad::isBroken);
                bad.worker().remove(bad);
            }
            for (ConnectedPair each : List.of(pair, bystander)) {
                MemoryRegion source = each.first().register(from);
                MemoryRegion target = each.second().register(to);
                to.fill((byte) 0);
                receive(each, 1, to, target, 0, LONG);
                send(each, 1, from, source, 0, LONG);
                assertThat(each.second().nextReceive().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
                assertThat(each.first().nextSend().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
                assertThat(to.bytes()).isEqualTo(from.bytes());
                source.close();
                target.close();
            }
            assertThat(remote.length()).isEqualTo(LONG);
        }
    }

    /** Who sent on it may have nothing more to say there, and would wait for ever. */
    @Test
    void aLaneThatBreaksTheProtocolFailsBothEnds() throws IOException {
        try (ConnectedPair pair = open();
                Stranger lane = Stranger.to(pair);
                NativeBuffer to = new NativeBuffer(FROM_BYTES)) {
            openLanes(pair);
            MemoryRegion remote = pair.second().register(to);
            receive(pair, 5, to, remote, 0, FROM_BYTES);
            lane.say(lane.preamble(Stranger.hello(pair, 0, 0, 4), null));
            assertThat(lane.isAccepted(null)).isTrue();
            lane.say(new byte[WireFormat.PIECE_BYTES]);

            Completion done = pair.second().nextReceive();
            assertThat(done.workRequestId()).isEqualTo(5);
            assertThat(done.status()).isEqualTo(WorkCompletionStatus.WR_FLUSHED);
            assertThat(pair.second().queuePair().queryState()).isEqualTo(QueuePairStateCode.ERROR);
            assertThat(lane.isClosed()).isTrue();
            try (NativeBuffer from = new NativeBuffer(1)) {
                MemoryRegion local = pair.first().register(from);
                Await.until("the sender's end fails, too", () -> {
                    pair.first().queuePair().postSend(9, from.address(), 1, local.localKey(), INJECTED);
                    return pair.first().nextSend().status() == WorkCompletionStatus.RETRY_EXCEEDED;
                });
            }
        }
    }

    private OutgoingLane deal(int number, Function<LaneWorker, OutgoingLane> lane) throws IOException {
        OutgoingLane[] made = new OutgoingLane[1];
        one.laneWorkers().deal(number, LaneWorkers.Direction.OUTGOING, worker -> {
            made[0] = lane.apply(worker);
            worker.add(made[0]);
        });
        return made[0];
    }

    @Test
    void whereNoWorkerTakesALaneMessagesGoInOnePiece() {
        SoftwareVerbs single = provider(1, 0);
        try (ConnectedPair before = open(single, other);
                NativeBuffer from = new NativeBuffer(LONG).randomize(new Random(8));
                NativeBuffer to = new NativeBuffer(LONG)) {
            openLanes(before);
            assertThat(single.laneWorkers().senders()).isEqualTo(1);
            List.of(single.laneWorkers().started()).forEach(LaneWorker::close);
            try (ConnectedPair pair = open(single, other)) {
                MemoryRegion local = pair.first().register(from);
                MemoryRegion remote = pair.second().register(to);
                for (int i = 0; i < 20; i++) {
                    receive(pair, i, to, remote, 0, LONG);
                    send(pair, i, from, local, 0, LONG);
                    assertThat(pair.second().nextReceive().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
                    assertThat(pair.first().nextSend().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
                }
                assertThat(((SoftwareQueuePair) pair.first().queuePair()).hasLanes())
                        .isFalse();
                assertThat(to.bytes()).isEqualTo(from.bytes());
            }
            assertThat(single.laneWorkers().senders()).isEqualTo(1);
        }
        LedgerAssert.assertNothingOpen(single);
        single.close();
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
                receive(pair, i, to, remote, 0, LONG);
                send(pair, i, from, local, 0, LONG);
                assertThat(pair.second().nextReceive().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
                assertThat(pair.first().nextSend().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
            }
            assertThat(((SoftwareQueuePair) pair.first().queuePair()).hasLanes())
                    .isFalse();
            assertThat(to.bytes()).isEqualTo(from.bytes());
        }
        LedgerAssert.assertNothingOpen(plain);
        plain.close();
    }
}
