package trigon.software.lanes;

import static org.assertj.core.api.Assertions.assertThat;
import static trigon.software.device.LanePairs.FROM_BYTES;
import static trigon.software.device.LanePairs.LONG;
import static trigon.software.device.LanePairs.openLanes;
import static trigon.software.device.LanePairs.receive;
import static trigon.software.device.LanePairs.send;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import trigon.software.LaneSettings;
import trigon.software.connection.LocalQueuePair;
import trigon.software.device.LanePairs;
import trigon.software.device.Loopback;
import trigon.software.device.RawClient;
import trigon.software.device.SoftwareVerbs;
import trigon.software.memory.SoftwareMemoryRegion;
import trigon.software.wire.WireFormat;
import trigon.testsupport.Await;
import trigon.testsupport.LedgerAssert;
import trigon.testsupport.NativeBuffer;
import trigon.testsupport.verbs.Completion;
import trigon.testsupport.verbs.ConnectedPair;
import trigon.testsupport.verbs.QueuePairSettings;
import trigon.testsupport.verbs.VerbsFabric;
import trigon.verbs.MemoryRegion;
import trigon.verbs.QueuePairAttributes;
import trigon.verbs.QueuePairStateCode;
import trigon.verbs.SendFlag;
import trigon.verbs.WorkCompletionStatus;

/** Messages in pieces end as if they had come in one, whatever fails. */
@Timeout(180)
class FailingLanesTest {

    private static final int SENDS = 12;
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final int INJECTED = SendFlag.SIGNALED | SendFlag.INJECT_COMPLETE;

    private final LaneWorkers workers = LanePairs.workers(2, 1);
    private final SoftwareVerbs one = LanePairs.provider(workers);
    private final SoftwareVerbs other = LanePairs.provider(2, 2);

    private ConnectedPair open() {
        return LanePairs.open(one, other);
    }

    @AfterEach
    void close() {
        Loopback.closeUnused(one, other);
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
                LanePairs.start(pair, SENDS, from, local, to, remote, LONG);
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
                    assertThat(to.holdsOnly(2)).isTrue();
                } else {
                    assertThat(to.holds(2)).isFalse();
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
                LanePairs.start(pair, SENDS, from, local, to, remote, LONG);
                if (senders) {
                    pair.first().queuePair().close();
                    from.fill((byte) 2);
                    Await.until("the end of the connection is seen", () -> {
                        pair.second().hasReceive();
                        return !pair.second().queuePair().mayStillReceive();
                    });
                    assertThat(to.holds(2)).isFalse();
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
                    assertThat(to.holdsOnly(2)).isTrue();
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
            LocalQueuePair queuePair = LanePairs.sender(bystander);
            for (int worker = 0; worker < 3; worker++) {
                SocketChannel channel = SocketChannel.open();
                channel.configureBlocking(false);
                OutgoingLane bad =
                        assign(1 + worker, mine -> new OutgoingLane(channel, 1, queuePair, mine, new SentPieces()));
                bad.offer(
                        (SoftwareMemoryRegion) local, from.address(), WireFormat.SEND, 0, 0, LONG + 1, 0, LONG + 1, 0);
                Await.until("the lane breaks", bad::isBroken);
                bad.close();
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
    @ParameterizedTest
    @MethodSource("noPieces")
    void aLaneThatBreaksTheProtocolFailsBothEnds(byte[] nonsense) throws IOException {
        try (ConnectedPair pair = open();
                RawClient lane = laneTo(pair);
                NativeBuffer to = new NativeBuffer(FROM_BYTES)) {
            openLanes(pair);
            MemoryRegion remote = pair.second().register(to);
            receive(pair, 5, to, remote, 0, FROM_BYTES);
            lane.say(nonsense);

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

    static List<byte[]> noPieces() {
        return List.of(
                new byte[WireFormat.PIECE_BYTES], // of no request
                piece(WireFormat.WRITE, 0, 8, 8),
                piece(WireFormat.SEND, 0, 0, 8), // empty, of a message that is not
                piece(WireFormat.SEND, 0, -1, 8),
                piece(WireFormat.SEND, 4, 8, 8));
    }

    private static byte[] piece(int opcode, int offset, int length, int messageLength) {
        return piece(opcode, QueuePairSettings.DEFAULT.psn() + 100, offset, length, messageLength)
                .array();
    }

    private static ByteBuffer piece(int opcode, int psn, int offset, int length, int messageLength) {
        int immediate = 0;
        int receive = 100;
        return ByteBuffer.allocate(WireFormat.PIECE_BYTES)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(opcode | WireFormat.UNANSWERED)
                .putInt(psn)
                .putInt(psn == QueuePairSettings.DEFAULT.psn() ? 0 : receive)
                .putInt(length)
                .putInt(offset)
                .putInt(messageLength)
                .putInt(immediate)
                .putInt(0);
    }

    /** One that a test speaks on. */
    private static RawClient laneTo(ConnectedPair pair) throws IOException {
        pair.first().queuePair().awaitOpen(PATIENCE);
        RawClient lane = RawClient.to(pair);
        lane.say(lane.preamble(RawClient.hello(pair, 0, 0, 4), null));
        assertThat(lane.isAccepted(null)).isTrue();
        return lane;
    }

    @RepeatedTest(10)
    void whatHasComeBeforeALaneFailsIsComplete() throws IOException {
        try (ConnectedPair pair = open();
                RawClient lane = laneTo(pair);
                NativeBuffer to = new NativeBuffer(FROM_BYTES)) {
            MemoryRegion remote = pair.second().register(to);
            receive(pair, 5, to, remote, 0, FROM_BYTES);
            ByteBuffer good = piece(WireFormat.SEND, QueuePairSettings.DEFAULT.psn(), 0, 0, 0);
            lane.say(ByteBuffer.allocate(2 * WireFormat.PIECE_BYTES)
                    .put(good.flip())
                    .array());
            assertThat(pair.second().nextReceive().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
            Await.until("the queue pair fails", () -> {
                pair.second().hasReceive();
                return pair.second().queuePair().queryState() == QueuePairStateCode.ERROR;
            });
        }
    }

    @Test
    void aQueuePairThatFailedWithALaneMayBeReset() throws IOException {
        try (ConnectedPair pair = open();
                RawClient lane = laneTo(pair);
                NativeBuffer to = new NativeBuffer(FROM_BYTES)) {
            MemoryRegion remote = pair.second().register(to);
            receive(pair, 5, to, remote, 0, FROM_BYTES);
            lane.say(new byte[WireFormat.PIECE_BYTES]);
            assertThat(pair.second().nextReceive().status()).isEqualTo(WorkCompletionStatus.WR_FLUSHED);

            pair.first()
                    .queuePair()
                    .modify(QueuePairAttributes.to(QueuePairStateCode.RESET).build());
            pair.second()
                    .queuePair()
                    .modify(QueuePairAttributes.to(QueuePairStateCode.RESET).build());
            assertThat(pair.second().hasReceive()).isFalse(); // polls
            assertThat(pair.second().queuePair().queryState()).isEqualTo(QueuePairStateCode.RESET);
            pair.first().becomeReadyToReceive(pair.second().endpoint());
            pair.second().becomeReadyToReceive(pair.first().endpoint());
            pair.first().becomeReadyToSend();
            pair.second().becomeReadyToSend();
            openLanes(pair);
        }
    }

    private OutgoingLane assign(int number, Function<LaneWorker, OutgoingLane> lane) throws IOException {
        OutgoingLane[] made = new OutgoingLane[1];
        workers.assign(number, WorkerLanes.Direction.OUTGOING, worker -> {
            made[0] = lane.apply(worker);
            worker.lanes().add(made[0]);
        });
        return made[0];
    }

    @Test
    void whereNoWorkerTakesALaneMessagesGoInOnePiece() {
        LaneWorkers only = LanePairs.workers(1, 0);
        SoftwareVerbs single = LanePairs.provider(only);
        try (ConnectedPair before = LanePairs.open(single, other);
                NativeBuffer from = new NativeBuffer(LONG).randomize(new Random(8));
                NativeBuffer to = new NativeBuffer(LONG)) {
            openLanes(before);
            assertThat(only.senders()).isEqualTo(1);
            List.of(only.started()).forEach(LaneWorker::close);
            try (ConnectedPair pair = LanePairs.open(single, other)) {
                MemoryRegion local = pair.first().register(from);
                MemoryRegion remote = pair.second().register(to);
                for (int i = 0; i < 20; i++) {
                    receive(pair, i, to, remote, 0, LONG);
                    send(pair, i, from, local, 0, LONG);
                    assertThat(pair.second().nextReceive().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
                    assertThat(pair.first().nextSend().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
                }
                assertThat(LanePairs.hasLanes(pair)).isFalse();
                assertThat(to.bytes()).isEqualTo(from.bytes());
            }
            assertThat(only.senders()).isEqualTo(1);
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
                        Loopback.PATIENT);
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
            assertThat(LanePairs.hasLanes(pair)).isFalse();
            assertThat(to.bytes()).isEqualTo(from.bytes());
        }
        LedgerAssert.assertNothingOpen(plain);
        plain.close();
    }
}
