package trigon.testsupport.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.Test;
import trigon.testsupport.Await;
import trigon.testsupport.NativeBuffer;
import trigon.verbs.MemoryRegion;
import trigon.verbs.QueuePair;
import trigon.verbs.QueuePairAttributes;
import trigon.verbs.QueuePairStateCode;
import trigon.verbs.SendFlag;
import trigon.verbs.WorkCompletionStatus;

/** Memory whose region or queue pair was closed is not touched any more, whatever was under way. */
public interface ReclaimContract extends OnFabric {

    /** Statuses of requests whose local memory is gone; SoftRoCE takes an unknown key for a malformed request. */
    Set<WorkCompletionStatus> LOCAL_KEY_REFUSED =
            Set.of(WorkCompletionStatus.LOCAL_PROTECTION_ERROR, WorkCompletionStatus.LOCAL_QP_OPERATION_ERROR);

    int WRITES = 12;

    /** After so long without a completion a device that may strand requests has done so. */
    Duration STRANDED = Duration.ofSeconds(20);

    @Test
    default void leavesTheTargetAloneOnceItsRegionIsClosed() {
        try (ConnectedPair pair = ConnectedPair.open(fabric(), settings());
                NativeBuffer from = new NativeBuffer(LONGEST).fill((byte) 1);
                NativeBuffer to = new NativeBuffer(LONGEST)) {
            MemoryRegion local = pair.first().register(from);
            MemoryRegion remote = pair.second().register(to);
            postWrites(pair, from, local, to, remote);

            remote.close();
            to.fill((byte) 2);

            assertOutcomes(pair, Set.of(WorkCompletionStatus.REMOTE_ACCESS_ERROR));
            assertThat(to.holdsOnly(2)).isTrue();
        }
    }

    @Test
    default void leavesTheSourceAloneOnceItsRegionIsClosed() {
        ConnectedPair pair = ConnectedPair.open(fabric(), settings());
        NativeBuffer from = new NativeBuffer(LONGEST).fill((byte) 1);
        try (pair;
                NativeBuffer to = new NativeBuffer(LONGEST)) {
            MemoryRegion local = pair.first().register(from);
            MemoryRegion remote = pair.second().register(to);
            postWrites(pair, from, local, to, remote);

            local.close();
            from.fill((byte) 2);
            from.close();

            assertOutcomes(pair, refusedOrStranded(pair));
            assertThat(to.holds(2)).isFalse();
        }
    }

    @Test
    default void leavesTheTargetAloneOnceItsQueuePairIsClosed() {
        try (ConnectedPair pair = ConnectedPair.open(fabric(), settings());
                NativeBuffer from = new NativeBuffer(LONGEST).fill((byte) 1);
                NativeBuffer to = new NativeBuffer(LONGEST)) {
            MemoryRegion local = pair.first().register(from);
            MemoryRegion remote = pair.second().register(to);
            postWrites(pair, from, local, to, remote);

            pair.second().queuePair().close();
            to.fill((byte) 2);

            assertOutcomes(pair, Set.of(WorkCompletionStatus.RETRY_EXCEEDED));
            assertThat(to.holdsOnly(2)).isTrue();
        }
    }

    @Test
    default void leavesTheSourceAloneOnceItsQueuePairIsClosed() {
        ConnectedPair pair = ConnectedPair.open(fabric(), settings());
        NativeBuffer from = new NativeBuffer(LONGEST).fill((byte) 1);
        try (pair;
                NativeBuffer to = new NativeBuffer(LONGEST)) {
            MemoryRegion local = pair.first().register(from);
            MemoryRegion remote = pair.second().register(to);
            postWrites(pair, from, local, to, remote);

            pair.first().queuePair().close();
            from.fill((byte) 2);
            local.close();
            from.close();
            remote.close();

            assertThat(to.holds(2)).isFalse();
        }
    }

    /** Statuses with which the failing request may end; sees to it that it does. */
    private Set<WorkCompletionStatus> refusedOrStranded(ConnectedPair pair) {
        if (!mayStrandRequests()
                || Await.holdsWithin(STRANDED, () -> pair.first().hasAllSends(WRITES))) {
            return LOCAL_KEY_REFUSED;
        }
        System.err.println("the device left requests without completion: moving their queue pair to ERROR");
        pair.first()
                .queuePair()
                .modify(QueuePairAttributes.to(QueuePairStateCode.ERROR).build());
        return Set.of(
                WorkCompletionStatus.LOCAL_PROTECTION_ERROR,
                WorkCompletionStatus.LOCAL_QP_OPERATION_ERROR,
                WorkCompletionStatus.WR_FLUSHED);
    }

    private static void postWrites(
            ConnectedPair pair, NativeBuffer from, MemoryRegion local, NativeBuffer to, MemoryRegion remote) {
        QueuePair queuePair = pair.first().queuePair();
        for (int i = 0; i < WRITES; i++) {
            assertThat(queuePair.postWrite(
                            i,
                            from.address(),
                            LONGEST,
                            local.localKey(),
                            to.address(),
                            remote.remoteKey(),
                            SendFlag.SIGNALED))
                    .isZero();
        }
    }

    /** Successes, then at most one of the failures, then flushed requests; every request once and in order. */
    static void assertOutcomes(ConnectedPair pair, Set<WorkCompletionStatus> failures) {
        boolean failed = false;
        for (int i = 0; i < WRITES; i++) {
            Completion done = pair.first().nextSend();
            assertThat(done.workRequestId()).isEqualTo(i);
            if (failed) {
                assertThat(done.status()).isEqualTo(WorkCompletionStatus.WR_FLUSHED);
            } else if (done.status() != WorkCompletionStatus.SUCCESS) {
                assertThat(failures).contains(done.status());
                failed = true;
            }
        }
    }
}
