package trigon.testsupport.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static trigon.testsupport.verbs.DataTransferContract.LONGEST;

import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import trigon.testsupport.NativeBuffer;
import trigon.verbs.AccessFlag;
import trigon.verbs.MemoryRegion;
import trigon.verbs.QueuePair;
import trigon.verbs.WorkCompletionOpcode;
import trigon.verbs.WorkCompletionStatus;

/** RDMA READs, which adapters have and software devices have not. */
public interface ReadContract extends OnFabric {

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 7, 128, 4096, 300_001, LONGEST})
    default void reads(int length) {
        try (ConnectedPair pair = ConnectedPair.open(fabric(), settings());
                NativeBuffer to = new NativeBuffer(length);
                NativeBuffer from = new NativeBuffer(length).randomize(new Random(length))) {
            MemoryRegion local = pair.first().register(to);
            MemoryRegion remote = pair.second().register(from);

            assertThat(new Read(10, to.address(), length, local.localKey(), from.address(), remote.remoteKey())
                            .post(pair.first().queuePair()))
                    .isZero();

            Completion done = pair.first().nextSend();
            assertThat(done.status()).isEqualTo(WorkCompletionStatus.SUCCESS);
            assertThat(done.opcode()).isEqualTo(WorkCompletionOpcode.RDMA_READ);
            assertThat(to.bytes()).isEqualTo(from.bytes());
        }
    }

    /**
     * Ends of a READ whose source is withdrawn half way: the responder's refusal carries the number of the request. A
     * requester that has taken a part of the answer may drop it as a repetition, as rxe does, and then asks a queue
     * pair in error until its retries are spent.
     */
    Set<WorkCompletionStatus> SOURCE_REFUSED =
            Set.of(WorkCompletionStatus.REMOTE_ACCESS_ERROR, WorkCompletionStatus.RETRY_EXCEEDED);

    @Test
    default void refusesToReadWhereOnlyWritingIsAllowed() {
        try (ConnectedPair pair = ConnectedPair.open(fabric(), settings());
                NativeBuffer memory = new NativeBuffer(64);
                NativeBuffer target = new NativeBuffer(64).fill((byte) 1)) {
            MemoryRegion local = pair.first().register(memory);
            MemoryRegion remote =
                    pair.second().register(target, Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE));

            Read read = new Read(1, memory.address(), 64, local.localKey(), target.address(), remote.remoteKey());
            assertThat(read.post(pair.first().queuePair())).isZero();

            assertThat(pair.first().nextSend().status()).isEqualTo(WorkCompletionStatus.REMOTE_ACCESS_ERROR);
            assertThat(memory.bytes()).containsOnly(0);
        }
    }

    @Test
    default void leavesTheSourceOfAReadAloneOnceItsRegionIsClosed() {
        try (ConnectedPair pair = ConnectedPair.open(fabric(), settings());
                NativeBuffer to = new NativeBuffer(LONGEST);
                NativeBuffer from = new NativeBuffer(LONGEST).fill((byte) 1)) {
            MemoryRegion local = pair.first().register(to);
            MemoryRegion remote = pair.second().register(from);
            postReads(pair, to, local, from, remote);

            remote.close();
            from.fill((byte) 2);

            ReclaimContract.assertOutcomes(pair, SOURCE_REFUSED);
            assertThat(to.holds(2)).isFalse();
        }
    }

    @Test
    default void leavesTheTargetOfAReadAloneOnceItsRegionIsClosed() {
        try (ConnectedPair pair = ConnectedPair.open(fabric(), settings());
                NativeBuffer to = new NativeBuffer(LONGEST);
                NativeBuffer from = new NativeBuffer(LONGEST).fill((byte) 1)) {
            MemoryRegion local = pair.first().register(to);
            MemoryRegion remote = pair.second().register(from);
            postReads(pair, to, local, from, remote);

            local.close();
            to.fill((byte) 2);

            ReclaimContract.assertOutcomes(pair, ReclaimContract.LOCAL_KEY_REFUSED);
            assertThat(to.holdsOnly(2)).isTrue();
        }
    }

    private static void postReads(
            ConnectedPair pair, NativeBuffer to, MemoryRegion local, NativeBuffer from, MemoryRegion remote) {
        QueuePair queuePair = pair.first().queuePair();
        for (int i = 0; i < ReclaimContract.WRITES; i++) {
            assertThat(new Read(i, to.address(), LONGEST, local.localKey(), from.address(), remote.remoteKey())
                            .post(queuePair))
                    .isZero();
        }
    }
}
