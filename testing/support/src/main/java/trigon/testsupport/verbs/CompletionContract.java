package trigon.testsupport.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import trigon.testsupport.NativeBuffer;
import trigon.verbs.MemoryRegion;
import trigon.verbs.SendFlag;
import trigon.verbs.WorkCompletionStatus;

/** Completion of a queue pair's requests, and its order. */
public interface CompletionContract extends OnFabric {

    @Test
    default void completesInTheOrderOfPosting() {
        try (ConnectedPair pair = ConnectedPair.open(fabric(), settings());
                NativeBuffer memory = new NativeBuffer(65_536);
                NativeBuffer target = new NativeBuffer(65_536)) {
            MemoryRegion local = pair.first().register(memory);
            MemoryRegion remote = pair.second().register(target);
            int rounds = 10;
            for (int i = 0; i < rounds; i++) {
                pair.second().queuePair().postReceive(100 + i, target.address(), 4096, remote.localKey());
            }

            for (int i = 0; i < rounds; i++) {
                long id = 2L * i;
                var queuePair = pair.first().queuePair();
                int lkey = local.localKey();
                int rkey = remote.remoteKey();
                int flags = SendFlag.SIGNALED;
                assertThat(queuePair.postWrite(id, memory.address(), 20_000, lkey, target.address(), rkey, flags))
                        .isZero();
                assertThat(queuePair.postSend(id + 1, memory.address(), i, lkey, flags))
                        .isZero();
            }

            for (int i = 0; i < 2 * rounds; i++) {
                Completion done = pair.first().nextSend();
                assertThat(done.status()).isEqualTo(WorkCompletionStatus.SUCCESS);
                assertThat(done.workRequestId()).isEqualTo(i);
            }
            for (int i = 0; i < rounds; i++) {
                Completion received = pair.second().nextReceive();
                assertThat(received.workRequestId()).isEqualTo(100 + i);
                assertThat(received.byteLength()).isEqualTo(i);
            }
        }
    }

    @Test
    default void reportsSuccessOnlyWhereSignaled() {
        try (ConnectedPair pair = ConnectedPair.open(fabric(), settings());
                NativeBuffer memory = new NativeBuffer(4096);
                NativeBuffer target = new NativeBuffer(4096)) {
            MemoryRegion local = pair.first().register(memory);
            MemoryRegion remote = pair.second().register(target);

            for (int i = 0; i < 12; i++) {
                int flags = i % 4 == 3 ? SendFlag.SIGNALED : SendFlag.NONE;
                pair.first()
                        .queuePair()
                        .postWrite(
                                i,
                                memory.address(),
                                100,
                                local.localKey(),
                                target.address(),
                                remote.remoteKey(),
                                flags);
            }

            assertThat(pair.first().nextSend().workRequestId()).isEqualTo(3);
            assertThat(pair.first().nextSend().workRequestId()).isEqualTo(7);
            assertThat(pair.first().nextSend().workRequestId()).isEqualTo(11);
            assertThat(pair.first().hasSend()).isFalse();
        }
    }
}
