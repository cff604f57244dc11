package trigon.testsupport.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import trigon.system.Memory;
import trigon.testsupport.NativeBuffer;
import trigon.verbs.MemoryRegion;
import trigon.verbs.SendFlag;
import trigon.verbs.WorkCompletionOpcode;
import trigon.verbs.WorkCompletionStatus;

/**
 * A SEND with an immediate, and one that is complete once its memory may be used again: on any device, no byte is lost.
 */
public interface InjectedSendContract extends OnFabric {

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 4096, 70_001, DataTransferContract.LONGEST})
    default void sendsWithImmediate(int length) {
        for (int flags : new int[] {SendFlag.SIGNALED, SendFlag.SIGNALED | SendFlag.INJECT_COMPLETE}) {
            try (ConnectedPair pair = ConnectedPair.open(fabric(), settings());
                    NativeBuffer from = new NativeBuffer(length).randomize(new Random(length));
                    NativeBuffer to = new NativeBuffer(length + 9)) {
                MemoryRegion local = pair.first().register(from);
                MemoryRegion target = pair.second().register(to);
                assertThat(pair.second().queuePair().postReceive(3, to.address(), to.length(), target.localKey()))
                        .isZero();

                assertThat(pair.first()
                                .queuePair()
                                .postSendWithImmediate(9, from.address(), length, local.localKey(), 0xCAFE_F00D, flags))
                        .isZero();

                Completion received = pair.second().nextReceive();
                assertThat(received.status()).isEqualTo(WorkCompletionStatus.SUCCESS);
                assertThat(received.workRequestId()).isEqualTo(3);
                assertThat(received.opcode()).isEqualTo(WorkCompletionOpcode.RECEIVE);
                assertThat(received.hasImmediate()).isTrue();
                assertThat(received.immediate()).isEqualTo(0xCAFE_F00D);
                assertThat(received.byteLength()).isEqualTo(length);
                assertThat(to.bytes(0, length)).isEqualTo(from.bytes());
                assertThat(to.bytes(length, 9)).containsOnly(0);
                Completion sent = pair.first().nextSend();
                assertThat(sent.status()).isEqualTo(WorkCompletionStatus.SUCCESS);
                assertThat(sent.opcode()).isEqualTo(WorkCompletionOpcode.SEND);
            }
        }
    }

    /**
     * The memory of each is written anew as soon as it is complete, while most of them still wait for their receives.
     */
    @Test
    default void memoryMayBeUsedAgainOnceAnInjectedSendIsComplete() {
        int length = 3000;
        int count = 200;
        int window = 8;
        try (ConnectedPair pair = ConnectedPair.open(fabric(), settings());
                NativeBuffer from = new NativeBuffer(window * length);
                NativeBuffer to = new NativeBuffer(count * length)) {
            MemoryRegion local = pair.first().register(from);
            MemoryRegion target = pair.second().register(to);
            int posted = 0;
            int done = 0;
            int receives = 0;
            int received = 0;
            while (received < count) {
                // as late as a device allows that completes only what has been received
                boolean stuck = posted - done == window || posted == count;
                if (receives < posted && stuck) {
                    assertThat(pair.second()
                                    .queuePair()
                                    .postReceive(receives, to.at((long) receives * length), length, target.localKey()))
                            .isZero();
                    receives++;
                }
                if (posted < count && posted - done < window) {
                    int slot = posted % window;
                    for (int i = 0; i < length; i++) {
                        Memory.putByte(from.at((long) slot * length + i), (byte) (posted + i));
                    }
                    // an acknowledged one now and then: the order of completion is that of posting
                    int flags = SendFlag.SIGNALED | (posted % 7 == 6 ? 0 : SendFlag.INJECT_COMPLETE);
                    assertThat(pair.first()
                                    .queuePair()
                                    .postSend(posted, from.at((long) slot * length), length, local.localKey(), flags))
                            .isZero();
                    posted++;
                }
                while (pair.first().hasSend()) {
                    Completion sent = pair.first().nextSend();
                    assertThat(sent.status()).isEqualTo(WorkCompletionStatus.SUCCESS);
                    assertThat(sent.workRequestId()).isEqualTo(done++);
                }
                while (pair.second().hasReceive()) {
                    Completion arrived = pair.second().nextReceive();
                    assertThat(arrived.status()).isEqualTo(WorkCompletionStatus.SUCCESS);
                    assertThat(arrived.workRequestId()).isEqualTo(received++);
                }
            }
            for (int message = 0; message < count; message++) {
                for (int i = 0; i < length; i++) {
                    assertThat(Memory.getByte(to.at((long) message * length + i)))
                            .isEqualTo((byte) (message + i));
                }
            }
        }
    }
}
