package trigon.software.device;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import trigon.testsupport.Await;
import trigon.testsupport.NativeBuffer;
import trigon.testsupport.verbs.ConnectedPair;
import trigon.testsupport.verbs.VerbsFabric;
import trigon.verbs.MemoryRegion;
import trigon.verbs.QueuePair;
import trigon.verbs.SendFlag;
import trigon.verbs.WorkCompletionStatus;

/** Memory is left alone once it is taken back, while another thread posts and polls without pause. */
@Timeout(300)
class ReclaimStressTest {

    private static final int ROUNDS = Integer.getInteger("trigon.reclaim.rounds", 3);
    private static final int LENGTH = 1 << 20;
    private static final byte GOOD = 1;
    private static final byte TAKEN_BACK = 2;

    /** What is closed while data are under way. */
    enum Closed {
        LOCAL_REGION,
        REMOTE_REGION,
        LOCAL_QUEUE_PAIR,
        REMOTE_QUEUE_PAIR
    }

    private final SoftwareVerbs one = Loopback.provider();
    private final SoftwareVerbs other = Loopback.provider();
    private final VerbsFabric fabric = new VerbsFabric(
            new VerbsFabric.End(one, "soft_a", 1, 0), new VerbsFabric.End(other, "soft_b", 1, 0), Optional.empty());

    @AfterEach
    void close() {
        Loopback.closeUnused(one, other);
    }

    @ParameterizedTest
    @EnumSource
    void nothingIsTouchedAfterwards(Closed closed) throws InterruptedException, ExecutionException, TimeoutException {
        long seed = new Random().nextLong();
        for (int round = 0; round < ROUNDS; round++) {
            Random random = new Random(seed + round);
            try (NativeBuffer local = new NativeBuffer(LENGTH).fill(GOOD);
                    NativeBuffer remote = new NativeBuffer(LENGTH).fill(GOOD);
                    ConnectedPair pair = ConnectedPair.open(fabric, Loopback.PATIENT)) {
                MemoryRegion here = pair.first().register(local);
                MemoryRegion there = pair.second().register(remote);
                Random traffic = new Random(random.nextLong());
                AtomicInteger posted = new AtomicInteger();
                CompletableFuture<?> posting =
                        CompletableFuture.runAsync(() -> post(pair, local, here, remote, there, traffic, posted));
                int enough = random.nextInt(1000);
                Await.until("some are posted", () -> posted.get() >= enough || posting.isDone());

                boolean isLocal = closed == Closed.LOCAL_REGION || closed == Closed.LOCAL_QUEUE_PAIR;
                switch (closed) {
                    case LOCAL_REGION -> here.close();
                    case REMOTE_REGION -> there.close();
                    case LOCAL_QUEUE_PAIR -> pair.first().queuePair().close();
                    case REMOTE_QUEUE_PAIR -> pair.second().queuePair().close();
                }
                (isLocal ? local : remote).fill(TAKEN_BACK);
                posting.get(2 * Await.DEADLINE.toSeconds(), TimeUnit.SECONDS);

                String where = "seed " + seed + ", round " + round + ", " + posted + " posted";
                // neither has anything been written to it, nor has any of it got out
                assertThat((isLocal ? local : remote).holdsOnly(TAKEN_BACK))
                        .as(where)
                        .isTrue();
                assertThat((isLocal ? remote : local).holds(TAKEN_BACK))
                        .as(where)
                        .isFalse();
            }
        }
    }

    /** However many queue pairs there are, and whatever they do. */
    @Test
    void memoryThatNobodyUsesIsTakenBackWithoutWaitingForQueuePairs() {
        try (NativeBuffer buffer = new NativeBuffer(LENGTH);
                ConnectedPair pair = ConnectedPair.open(fabric, Loopback.PATIENT)) {
            MemoryRegion unused = pair.first().register(buffer);
            SoftwareQueuePair queuePair = (SoftwareQueuePair) pair.first().queuePair();
            queuePair
                    .engine()
                    .lock()
                    .locked(() -> assertThat(CompletableFuture.runAsync(unused::close))
                            .succeedsWithin(Await.DEADLINE));
        }
    }

    /** Posts WRITEs of any length until that is refused, or fails. */
    private static void post(
            ConnectedPair pair,
            NativeBuffer local,
            MemoryRegion here,
            NativeBuffer remote,
            MemoryRegion there,
            Random random,
            AtomicInteger posted) {
        QueuePair queuePair = pair.first().queuePair();
        long end = System.nanoTime() + Await.DEADLINE.toNanos();
        int done = 0;
        boolean fails = false;
        while (!fails) {
            assertThat(System.nanoTime() - end).as("nothing has failed").isNegative();
            int length = 1 + random.nextInt(random.nextInt(4) == 0 ? LENGTH : 10_000);
            int offset = random.nextInt(LENGTH - length + 1);
            long from = local.at(offset);
            long to = remote.at(offset);
            int lkey = here.localKey();
            int rkey = there.remoteKey();
            int result = queuePair.postWrite(posted.get(), from, length, lkey, to, rkey, SendFlag.SIGNALED);
            fails = result != 0;
            posted.addAndGet(fails ? 0 : 1);
            while (posted.get() - done > 12 && !fails && System.nanoTime() - end < 0) {
                if (pair.first().hasSend()) {
                    fails = pair.first().nextSend().status() != WorkCompletionStatus.SUCCESS;
                    done++;
                } else {
                    fails = ((SoftwareQueuePair) queuePair).engine().isClosed();
                }
            }
        }
    }
}
