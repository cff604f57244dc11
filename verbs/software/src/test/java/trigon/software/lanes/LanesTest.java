package trigon.software.lanes;

import static org.assertj.core.api.Assertions.assertThat;
import static trigon.software.device.LanePairs.FROM_BYTES;
import static trigon.software.device.LanePairs.LONG;
import static trigon.software.device.LanePairs.openLanes;
import static trigon.software.device.LanePairs.receive;
import static trigon.software.device.LanePairs.send;

import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import trigon.software.device.LanePairs;
import trigon.software.device.Loopback;
import trigon.software.device.SoftwareVerbs;
import trigon.system.Memory;
import trigon.testsupport.Await;
import trigon.testsupport.LedgerAssert;
import trigon.testsupport.NativeBuffer;
import trigon.testsupport.Seed;
import trigon.testsupport.verbs.Completion;
import trigon.testsupport.verbs.ConnectedPair;
import trigon.testsupport.verbs.QueuePairSettings;
import trigon.verbs.MemoryRegion;
import trigon.verbs.QueuePair;
import trigon.verbs.SendFlag;
import trigon.verbs.WorkCompletionStatus;

/** Messages in pieces arrive as if they had come in one. */
@Timeout(180)
class LanesTest {

    /** More than the sockets of three lanes take, with 4 MiB for what is sent and 6 MiB for what is received. */
    private static final int HUGE = 48 << 20;

    private static final int MIDDLE = 90_000;
    /** More of them by the system property trigon.rounds. */
    private static final int ROUNDS = Integer.parseInt(System.getProperty("trigon.rounds", "40"));

    private static final int SENDS = 12;

    private final SoftwareVerbs one = LanePairs.provider(2, 1);
    private final SoftwareVerbs other = LanePairs.provider(2, 2);

    private ConnectedPair open() {
        return LanePairs.open(one, other);
    }

    @AfterEach
    void close() {
        Loopback.closeUnused(one, other);
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
        SoftwareVerbs crowded = LanePairs.provider(1, 0);
        try (ConnectedPair busy = LanePairs.open(one, crowded);
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
                    try (ConnectedPair pair = LanePairs.open(one, crowded)) {
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
                    LanePairs.sendNothing(pair, i);
                }
            }
            assertThat(pair.first().hasSend()).isFalse();
            Await.until("all are on lanes", () -> {
                assertThat(pair.first().hasSend()).isFalse();
                return LanePairs.onLanes(pair) == lengths.length;
            });
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

    /** Lanes hold so many messages and no more, and inline ones have no region that a lane could read. */
    @ParameterizedTest
    @ValueSource(ints = {50, Integer.MAX_VALUE})
    void moreMayComeBehindALongOneThanLanesHold(int inlineEvery) {
        int messages = 700;
        int length = 32;
        QueuePairSettings defaults = Loopback.PATIENT;
        QueuePairSettings many = new QueuePairSettings(
                1024,
                4096,
                length,
                defaults.access(),
                defaults.psn(),
                defaults.readAtomic(),
                0,
                defaults.retryCount(),
                defaults.rnrRetry(),
                defaults.minRnrTimer(),
                defaults.key());
        try (ConnectedPair pair = LanePairs.open(one, other, many);
                NativeBuffer from = new NativeBuffer(HUGE + messages * length).randomize(new Random(9));
                NativeBuffer to = new NativeBuffer(HUGE + messages * length)) {
            openLanes(pair);
            MemoryRegion local = pair.first().register(from);
            MemoryRegion remote = pair.second().register(to);
            send(pair, 0, from, local, 0, HUGE);
            for (int i = 1; i < messages; i++) {
                int inline = i % inlineEvery == 0 ? SendFlag.INLINE : 0;
                int flags = SendFlag.SIGNALED | SendFlag.INJECT_COMPLETE | inline;
                int key = inline == 0 ? local.localKey() : 0;
                assertThat(pair.first()
                                .queuePair()
                                .postSendWithImmediate(i, from.at(HUGE + i * length), length, key, ~i, flags))
                        .isZero();
            }
            for (int i = 0; i < messages; i++) {
                int bytes = i == 0 ? HUGE : length;
                receive(pair, i, to, remote, i == 0 ? 0 : HUGE + i * length, bytes);
                Completion done = pair.second().nextReceive();
                assertThat(done.status()).isEqualTo(WorkCompletionStatus.SUCCESS);
                assertThat(done.workRequestId()).isEqualTo(i);
                assertThat(done.immediate()).isEqualTo(~i);
                assertThat(done.byteLength()).isEqualTo(bytes);
            }
            for (int i = 0; i < messages; i++) {
                assertThat(pair.first().nextSend().workRequestId()).isEqualTo(i);
            }
            int shortBytes = (messages - 1) * length;
            assertThat(to.bytes(HUGE + length, shortBytes)).isEqualTo(from.bytes(HUGE + length, shortBytes));
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
}
