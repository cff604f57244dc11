package trigon.testsupport.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
import org.junit.jupiter.api.Test;
import trigon.testsupport.NativeBuffer;
import trigon.verbs.AccessFlag;
import trigon.verbs.MemoryRegion;
import trigon.verbs.ProtectionDomain;
import trigon.verbs.QueuePair;
import trigon.verbs.QueuePairStateCode;
import trigon.verbs.SendFlag;
import trigon.verbs.WorkCompletionStatus;

/** Requests that the memory or the peer does not allow fail with the right status, and the queue pair with them. */
public interface RefusalContract extends OnFabric {

    @Test
    default void refusesAnUnknownRemoteKeyAndFlushesInOrder() {
        try (ConnectedPair pair = ConnectedPair.open(fabric(), settings());
                NativeBuffer memory = new NativeBuffer(4096);
                NativeBuffer target = new NativeBuffer(4096).fill((byte) 1)) {
            MemoryRegion local = pair.first().register(memory);
            MemoryRegion remote = pair.second().register(target);
            QueuePair queuePair = pair.first().queuePair();
            int wrongKey = remote.remoteKey() ^ 0x5A5A_5A5A;
            for (int i = 0; i < 3; i++) {
                assertThat(queuePair.postReceive(50 + i, memory.address(), 8, local.localKey()))
                        .isZero();
            }

            int lkey = local.localKey();
            queuePair.postWrite(1, memory.address(), 64, lkey, target.address(), remote.remoteKey(), SendFlag.SIGNALED);
            queuePair.postWrite(2, memory.address(), 64, lkey, target.at(64), wrongKey, SendFlag.NONE);
            for (int i = 3; i < 8; i++) {
                queuePair.postWrite(i, memory.address(), 64, lkey, target.at(128), remote.remoteKey(), SendFlag.NONE);
            }

            assertThat(pair.first().nextSend().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
            Completion refused = pair.first().nextSend();
            assertThat(refused.workRequestId()).isEqualTo(2);
            assertThat(refused.status()).isEqualTo(WorkCompletionStatus.REMOTE_ACCESS_ERROR);
            for (int i = 3; i < 8; i++) {
                Completion flushed = pair.first().nextSend();
                assertThat(flushed.workRequestId()).isEqualTo(i);
                assertThat(flushed.status()).isEqualTo(WorkCompletionStatus.WR_FLUSHED);
            }
            for (int i = 0; i < 3; i++) {
                Completion flushed = pair.first().nextReceive();
                assertThat(flushed.workRequestId()).isEqualTo(50 + i);
                assertThat(flushed.status()).isEqualTo(WorkCompletionStatus.WR_FLUSHED);
            }
            assertThat(queuePair.queryState()).isEqualTo(QueuePairStateCode.ERROR);
            assertThat(target.bytes(0, 64)).containsOnly(0);
            assertThat(target.bytes(64, 64)).containsOnly(1);
            assertThat(target.bytes(128, 64)).containsOnly(1);
        }
    }

    @Test
    default void refusesToWriteBeyondTheRegion() {
        try (ConnectedPair pair = ConnectedPair.open(fabric(), settings());
                NativeBuffer memory = new NativeBuffer(8192);
                NativeBuffer target = new NativeBuffer(8192).fill((byte) 1)) {
            MemoryRegion local = pair.first().register(memory);
            MemoryRegion remote =
                    pair.second().protectionDomain().registerMemory(target.address(), 4096, VerbsEnd.ALL_ACCESS);

            pair.first()
                    .queuePair()
                    .postWrite(1, memory.address(), 101, local.localKey(), target.at(3996), remote.remoteKey(), 0);

            assertThat(pair.first().nextSend().status()).isEqualTo(WorkCompletionStatus.REMOTE_ACCESS_ERROR);
            assertThat(target.bytes()).containsOnly(1);
            remote.close();
        }
    }

    @Test
    default void refusesToWriteWhereOnlyReadingIsAllowed() {
        try (ConnectedPair pair = ConnectedPair.open(fabric(), settings());
                NativeBuffer memory = new NativeBuffer(64);
                NativeBuffer target = new NativeBuffer(64).fill((byte) 1)) {
            MemoryRegion local = pair.first().register(memory);
            MemoryRegion remote = pair.second().register(target, Set.of(AccessFlag.REMOTE_READ));

            pair.first()
                    .queuePair()
                    .postWrite(1, memory.address(), 64, local.localKey(), target.address(), remote.remoteKey(), 0);

            assertThat(pair.first().nextSend().status()).isEqualTo(WorkCompletionStatus.REMOTE_ACCESS_ERROR);
            assertThat(target.bytes()).containsOnly(1);
        }
    }

    @Test
    default void refusesWhatTheQueuePairDoesNotAllow() {
        QueuePairSettings readOnly = settings().withAccess(Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ));
        try (ConnectedPair pair = ConnectedPair.open(fabric(), readOnly);
                NativeBuffer memory = new NativeBuffer(64);
                NativeBuffer target = new NativeBuffer(64).fill((byte) 1)) {
            MemoryRegion local = pair.first().register(memory);
            MemoryRegion remote = pair.second().register(target);

            pair.first()
                    .queuePair()
                    .postWrite(1, memory.address(), 64, local.localKey(), target.address(), remote.remoteKey(), 0);

            assertThat(pair.first().nextSend().status())
                    .isIn(WorkCompletionStatus.REMOTE_ACCESS_ERROR, WorkCompletionStatus.REMOTE_INVALID_REQUEST);
            assertThat(target.bytes()).containsOnly(1);
        }
    }

    /** An empty message has no use for a key, and still is one of a kind that the queue pair takes or not. */
    @Test
    default void refusesAnEmptyMessageThatTheQueuePairDoesNotAllow() {
        QueuePairSettings readOnly = settings().withAccess(Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ));
        try (ConnectedPair pair = ConnectedPair.open(fabric(), readOnly)) {
            pair.first().queuePair().postWrite(1, 0, 0, 0, 0, 0, SendFlag.SIGNALED);

            assertThat(pair.first().nextSend().status())
                    .isIn(WorkCompletionStatus.REMOTE_ACCESS_ERROR, WorkCompletionStatus.REMOTE_INVALID_REQUEST);
        }
    }

    @Test
    default void refusesARegionOfAnotherProtectionDomain() {
        try (ConnectedPair pair = ConnectedPair.open(fabric(), settings());
                NativeBuffer memory = new NativeBuffer(64);
                NativeBuffer target = new NativeBuffer(64).fill((byte) 1);
                ProtectionDomain other = pair.second().context().allocateProtectionDomain();
                MemoryRegion remote = other.registerMemory(target.address(), 64, VerbsEnd.ALL_ACCESS)) {
            MemoryRegion local = pair.first().register(memory);

            pair.first()
                    .queuePair()
                    .postWrite(1, memory.address(), 64, local.localKey(), target.address(), remote.remoteKey(), 0);

            assertThat(pair.first().nextSend().status()).isEqualTo(WorkCompletionStatus.REMOTE_ACCESS_ERROR);
            assertThat(target.bytes()).containsOnly(1);
        }
    }

    @Test
    default void refusesAClosedRegion() {
        try (ConnectedPair pair = ConnectedPair.open(fabric(), settings());
                NativeBuffer memory = new NativeBuffer(64);
                NativeBuffer target = new NativeBuffer(64).fill((byte) 1)) {
            MemoryRegion local = pair.first().register(memory);
            MemoryRegion remote = pair.second().register(target);
            remote.close();

            pair.first()
                    .queuePair()
                    .postWrite(1, memory.address(), 64, local.localKey(), target.address(), remote.remoteKey(), 0);

            assertThat(pair.first().nextSend().status()).isEqualTo(WorkCompletionStatus.REMOTE_ACCESS_ERROR);
            assertThat(target.bytes()).containsOnly(1);
        }
    }

    @Test
    default void failsOnAnUnknownLocalKey() {
        try (ConnectedPair pair = ConnectedPair.open(fabric(), settings());
                NativeBuffer memory = new NativeBuffer(64);
                NativeBuffer target = new NativeBuffer(64).fill((byte) 1)) {
            MemoryRegion local = pair.first().register(memory);
            MemoryRegion remote = pair.second().register(target);
            int wrongKey = local.localKey() ^ 0x5A5A_5A5A;

            pair.first()
                    .queuePair()
                    .postWrite(1, memory.address(), 64, wrongKey, target.address(), remote.remoteKey(), 0);

            // SoftRoCE takes an unknown key for a malformed request
            assertThat(pair.first().nextSend().status())
                    .isIn(WorkCompletionStatus.LOCAL_PROTECTION_ERROR, WorkCompletionStatus.LOCAL_QP_OPERATION_ERROR);
            assertThat(target.bytes()).containsOnly(1);
        }
    }

    @Test
    default void failsOnMemoryBeyondTheLocalRegion() {
        try (ConnectedPair pair = ConnectedPair.open(fabric(), settings());
                NativeBuffer memory = new NativeBuffer(8192);
                NativeBuffer target = new NativeBuffer(8192);
                MemoryRegion local =
                        pair.first().protectionDomain().registerMemory(memory.address(), 4096, VerbsEnd.ALL_ACCESS)) {
            MemoryRegion remote = pair.second().register(target);

            pair.first()
                    .queuePair()
                    .postWrite(1, memory.at(4000), 97, local.localKey(), target.address(), remote.remoteKey(), 0);

            assertThat(pair.first().nextSend().status()).isEqualTo(WorkCompletionStatus.LOCAL_PROTECTION_ERROR);
        }
    }

    @Test
    default void refusesASendLongerThanItsReceive() {
        try (ConnectedPair pair = ConnectedPair.open(fabric(), settings());
                NativeBuffer memory = new NativeBuffer(64);
                NativeBuffer target = new NativeBuffer(64).fill((byte) 1)) {
            MemoryRegion local = pair.first().register(memory);
            MemoryRegion remote = pair.second().register(target);
            pair.second().queuePair().postReceive(1, target.address(), 63, remote.localKey());

            pair.first().queuePair().postSend(2, memory.address(), 64, local.localKey(), SendFlag.NONE);

            // SoftRoCE reports other statuses on both sides
            assertThat(pair.first().nextSend().status())
                    .isIn(WorkCompletionStatus.REMOTE_INVALID_REQUEST, WorkCompletionStatus.REMOTE_OPERATION_ERROR);
            assertThat(pair.second().nextReceive().status())
                    .isIn(
                            WorkCompletionStatus.LOCAL_LENGTH_ERROR,
                            WorkCompletionStatus.LOCAL_QP_OPERATION_ERROR,
                            WorkCompletionStatus.REMOTE_INVALID_REQUEST);
            assertThat(target.bytes(63, 1)).containsOnly(1);
        }
    }
}
