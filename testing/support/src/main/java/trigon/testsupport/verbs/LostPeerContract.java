package trigon.testsupport.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.Random;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;
import trigon.system.Errno;
import trigon.testsupport.NativeBuffer;
import trigon.verbs.MemoryRegion;
import trigon.verbs.QueuePair;
import trigon.verbs.QueuePairStateCode;
import trigon.verbs.SendFlag;
import trigon.verbs.VerbsException;
import trigon.verbs.WorkCompletionStatus;

/** Peers that are slow, gone, or out of reach. */
public interface LostPeerContract extends OnFabric {

    /** Code of a time to wait for an answer that does not come: with the retries, a second. */
    int SOON = 15;

    @Test
    default void waitsUntilAReceiveIsPosted() {
        try (ConnectedPair pair = ConnectedPair.open(fabric(), settings());
                NativeBuffer memory = new NativeBuffer(50_000).randomize(new Random(3));
                NativeBuffer target = new NativeBuffer(50_000)) {
            MemoryRegion local = pair.first().register(memory);
            MemoryRegion remote = pair.second().register(target);
            QueuePair queuePair = pair.first().queuePair();
            int half = 25_000;
            int lkey = local.localKey();
            queuePair.postSend(1, memory.address(), half, lkey, SendFlag.SIGNALED);
            queuePair.postWriteWithImmediate(
                    2, memory.at(half), half, lkey, target.at(half), remote.remoteKey(), 77, SendFlag.SIGNALED);

            // a write of the other direction comes through meanwhile, so the first request is on its way
            pair.second()
                    .queuePair()
                    .postWrite(3, target.at(0), 0, 0, memory.address(), local.remoteKey(), SendFlag.SIGNALED);
            assertThat(pair.second().nextSend().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
            assertThat(pair.first().hasSend()).isFalse();

            pair.second().queuePair().postReceive(4, target.address(), half, remote.localKey());
            assertThat(pair.first().nextSend().workRequestId()).isEqualTo(1);
            assertThat(pair.second().nextReceive().workRequestId()).isEqualTo(4);
            pair.second().queuePair().postReceive(5, 0, 0, 0);
            assertThat(pair.first().nextSend().workRequestId()).isEqualTo(2);
            assertThat(pair.second().nextReceive().immediate()).isEqualTo(77);
            assertThat(target.bytes()).isEqualTo(memory.bytes());
        }
    }

    @Test
    default void givesUpWhenNoReceiveIsPosted() {
        try (ConnectedPair pair = ConnectedPair.open(fabric(), settings().withRnr(2, 14));
                NativeBuffer memory = new NativeBuffer(64)) {
            MemoryRegion local = pair.first().register(memory);

            pair.first().queuePair().postSend(1, memory.address(), 64, local.localKey(), SendFlag.NONE);
            pair.first().queuePair().postSend(2, memory.address(), 64, local.localKey(), SendFlag.NONE);

            assertThat(pair.first().nextSend().status()).isEqualTo(WorkCompletionStatus.RNR_RETRY_EXCEEDED);
            assertThat(pair.first().nextSend().status()).isEqualTo(WorkCompletionStatus.WR_FLUSHED);
        }
    }

    @Test
    default void noticesThatThePeerIsGone() {
        try (ConnectedPair pair = ConnectedPair.open(fabric(), settings());
                NativeBuffer memory = new NativeBuffer(4096);
                NativeBuffer target = new NativeBuffer(4096)) {
            MemoryRegion local = pair.first().register(memory);
            MemoryRegion remote = pair.second().register(target);
            QueuePair queuePair = pair.first().queuePair();
            int lkey = local.localKey();
            queuePair.postReceive(9, memory.address(), 8, lkey);
            queuePair.postWrite(1, memory.address(), 8, lkey, target.address(), remote.remoteKey(), SendFlag.SIGNALED);
            assertThat(pair.first().nextSend().status()).isEqualTo(WorkCompletionStatus.SUCCESS);

            pair.second().queuePair().close();
            for (int i = 2; i < 5; i++) {
                queuePair.postWrite(i, memory.address(), 8, lkey, target.address(), remote.remoteKey(), 0);
            }

            Completion failed = pair.first().nextSend();
            assertThat(failed.workRequestId()).isEqualTo(2);
            assertThat(failed.status()).isEqualTo(WorkCompletionStatus.RETRY_EXCEEDED);
            for (int i = 3; i < 5; i++) {
                Completion flushed = pair.first().nextSend();
                assertThat(flushed.workRequestId()).isEqualTo(i);
                assertThat(flushed.status()).isEqualTo(WorkCompletionStatus.WR_FLUSHED);
            }
            assertThat(pair.first().nextReceive().status()).isEqualTo(WorkCompletionStatus.WR_FLUSHED);
            assertThat(queuePair.queryState()).isEqualTo(QueuePairStateCode.ERROR);

            // still accepted, and flushed as well
            assertThat(queuePair.postWrite(7, memory.address(), 8, lkey, target.address(), remote.remoteKey(), 0))
                    .isZero();
            assertThat(pair.first().nextSend().status()).isEqualTo(WorkCompletionStatus.WR_FLUSHED);
        }
    }

    @Test
    default void givesUpAPeerThatNeverBecomesReady() {
        try (ConnectedPair pair = ConnectedPair.create(fabric(), settings().withTimeout(SOON));
                NativeBuffer memory = new NativeBuffer(64)) {
            MemoryRegion local = pair.first().register(memory);
            pair.first().becomeReadyToReceive(pair.second().endpoint());
            pair.first().becomeReadyToSend();

            pair.first().queuePair().postSend(1, memory.address(), 64, local.localKey(), SendFlag.NONE);

            assertThat(pair.first().nextSend().status()).isEqualTo(WorkCompletionStatus.RETRY_EXCEEDED);
        }
    }

    @Test
    default void doesNotReachAPeerThroughTheWrongDevice() {
        assumeTrue(fabric().unreachable().isPresent(), "the fabric has no unreachable end");
        try (VerbsEnd first = new VerbsEnd(fabric().first(), settings());
                VerbsEnd other = new VerbsEnd(fabric().unreachable().orElseThrow(), settings())) {
            first.queuePair().modify(first.toInit());

            assertThatThrownBy(() -> first.queuePair().modify(first.toReadyToReceive(other.endpoint())))
                    .asInstanceOf(InstanceOfAssertFactories.type(VerbsException.class))
                    .extracting(VerbsException::errno)
                    .isIn(Errno.ENETUNREACH, Errno.EHOSTUNREACH, Errno.ETIMEDOUT, Errno.EINVAL);
            assertThat(first.queuePair().queryState()).isEqualTo(QueuePairStateCode.INIT);
        }
    }
}
