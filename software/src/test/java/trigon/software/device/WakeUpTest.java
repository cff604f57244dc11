package trigon.software.device;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import trigon.system.Memory;
import trigon.testsupport.Await;
import trigon.testsupport.LedgerAssert;
import trigon.testsupport.NativeBuffer;
import trigon.testsupport.verbs.ConnectedPair;
import trigon.testsupport.verbs.VerbsFabric;
import trigon.verbs.MemoryRegion;
import trigon.verbs.SendFlag;
import trigon.verbs.WorkCompletionStatus;

/** Whenever something is posted, before, while or after others move data, it gets done. */
@Timeout(120)
class WakeUpTest {

    private static final int MESSAGES = 600;
    /** Nothing is to happen in a pause: it has what comes next meet the other threads at another moment. */
    private static final int LONGEST_PAUSE_MICROS = 60;

    /** Code of a time limit of hours: its timer must not come to the rescue. */
    private static final int NO_TIME_LIMIT = 31;

    @ParameterizedTest
    @ValueSource(ints = {1, 4})
    void losesNoWakeUp(int posterCount) throws InterruptedException, ExecutionException {
        long seed = new Random().nextLong();
        try (SoftwareVerbs one = new SoftwareVerbs(List.of(Loopback.A));
                SoftwareVerbs other = new SoftwareVerbs(List.of(Loopback.B));
                ExecutorService posters = Executors.newFixedThreadPool(posterCount)) {
            VerbsFabric fabric = new VerbsFabric(
                    new VerbsFabric.End(one, "soft_a", 1, 0),
                    new VerbsFabric.End(other, "soft_b", 1, 0),
                    Optional.empty());
            List<Callable<Boolean>> tasks = new ArrayList<>();
            for (int i = 0; i < posterCount; i++) {
                Random random = new Random(seed + i);
                tasks.add(() -> postNowAndThen(fabric, random));
            }
            for (Future<Boolean> done : posters.invokeAll(tasks)) {
                assertThat(done.get()).as("seed %d", seed).isTrue();
            }
            LedgerAssert.assertNothingOpen(one);
            LedgerAssert.assertNothingOpen(other);
        }
    }

    /** Nobody asks to be told of the end of a request, and nobody polls afterwards. */
    @Test
    void whatNobodyWaitsForIsSentThoughNobodyPolls() {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        try (SoftwareVerbs one = new SoftwareVerbs(List.of(Loopback.A));
                SoftwareVerbs other = new SoftwareVerbs(List.of(Loopback.B))) {
            VerbsFabric fabric = new VerbsFabric(
                    new VerbsFabric.End(one, "soft_a", 1, 0),
                    new VerbsFabric.End(other, "soft_b", 1, 0),
                    Optional.empty());
            try (ConnectedPair pair = ConnectedPair.open(fabric, Loopback.PATIENT.withTimeout(NO_TIME_LIMIT));
                    NativeBuffer from = new NativeBuffer(Long.BYTES);
                    NativeBuffer to = new NativeBuffer(Long.BYTES)) {
                MemoryRegion local = pair.first().register(from);
                MemoryRegion remote = pair.second().register(to);
                for (int i = 1; i <= MESSAGES; i++) {
                    long expected = i;
                    for (int polls = random.nextInt(4) == 0 ? 0 : random.nextInt(200); polls > 0; polls--) {
                        pair.first().hasSend();
                    }
                    if (random.nextInt(8) == 0) {
                        LockSupport.parkNanos(1_000L * random.nextInt(3_000)); // long enough for them to sleep
                    }
                    Memory.putLong(from.address(), expected);
                    int posted = pair.first()
                            .queuePair()
                            .postWrite(
                                    i,
                                    from.address(),
                                    Long.BYTES,
                                    local.localKey(),
                                    to.address(),
                                    remote.remoteKey(),
                                    SendFlag.NONE);
                    assertThat(posted).isZero();
                    Await.until(
                            "message " + i + ", seed " + seed, () -> Memory.getLongAcquire(to.address()) == expected);
                }
            }
        }
    }

    private static boolean postNowAndThen(VerbsFabric fabric, Random random) {
        try (ConnectedPair pair = ConnectedPair.open(fabric, Loopback.PATIENT.withTimeout(NO_TIME_LIMIT));
                NativeBuffer from = new NativeBuffer(64);
                NativeBuffer to = new NativeBuffer(64)) {
            MemoryRegion local = pair.first().register(from);
            MemoryRegion remote = pair.second().register(to);
            for (int i = 0; i < MESSAGES; i++) {
                LockSupport.parkNanos(1_000L * random.nextInt(LONGEST_PAUSE_MICROS));
                boolean receiveFirst = random.nextBoolean();
                if (receiveFirst) {
                    pair.second().queuePair().postReceive(i, 0, 0, 0);
                }
                pair.first()
                        .queuePair()
                        .postWriteWithImmediate(
                                i,
                                from.address(),
                                64,
                                local.localKey(),
                                to.address(),
                                remote.remoteKey(),
                                i,
                                SendFlag.SIGNALED);
                if (!receiveFirst) {
                    // the message may wait for it, with nobody looking
                    LockSupport.parkNanos(1_000L * random.nextInt(LONGEST_PAUSE_MICROS));
                    pair.second().queuePair().postReceive(i, 0, 0, 0);
                }
                assertThat(pair.second().nextReceive().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
                assertThat(pair.first().nextSend().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
            }
            return true;
        }
    }
}
