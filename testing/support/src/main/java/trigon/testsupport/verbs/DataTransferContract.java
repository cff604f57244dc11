package trigon.testsupport.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import trigon.testsupport.AllocationAssert;
import trigon.testsupport.NativeBuffer;
import trigon.verbs.CompletionQueue;
import trigon.verbs.MemoryRegion;
import trigon.verbs.SendFlag;
import trigon.verbs.WorkCompletionOpcode;
import trigon.verbs.WorkCompletionStatus;
import trigon.verbs.WorkCompletions;

/** Each operation moves exactly the bytes it should, and is reported as it should. */
public interface DataTransferContract extends OnFabric {

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 7, 128, 4096, 70_001, LONGEST})
    default void writes(int length) {
        try (ConnectedPair pair = ConnectedPair.open(fabric(), settings());
                NativeBuffer from = new NativeBuffer(length).randomize(new Random(length));
                NativeBuffer to = new NativeBuffer(length)) {
            MemoryRegion local = pair.first().register(from);
            MemoryRegion remote = pair.second().register(to);

            assertThat(pair.first()
                            .queuePair()
                            .postWrite(
                                    7,
                                    from.address(),
                                    length,
                                    local.localKey(),
                                    to.address(),
                                    remote.remoteKey(),
                                    SendFlag.SIGNALED))
                    .isZero();

            Completion done = pair.first().nextSend();
            assertThat(done.status()).isEqualTo(WorkCompletionStatus.SUCCESS);
            assertThat(done.workRequestId()).isEqualTo(7);
            assertThat(done.opcode()).isEqualTo(WorkCompletionOpcode.RDMA_WRITE);
            assertThat(done.queuePairNumber())
                    .isEqualTo(pair.first().queuePair().number());
            assertThat(to.bytes()).isEqualTo(from.bytes());
            assertThat(pair.second().hasReceive()).isFalse();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 128, LONGEST})
    default void writesWithImmediate(int length) {
        int immediate = 0xCAFE_F00D;
        try (ConnectedPair pair = ConnectedPair.open(fabric(), settings());
                NativeBuffer from = new NativeBuffer(length).randomize(new Random(length));
                NativeBuffer to = new NativeBuffer(length)) {
            MemoryRegion local = pair.first().register(from);
            MemoryRegion remote = pair.second().register(to);
            assertThat(pair.second().queuePair().postReceive(31, 0, 0, 0)).isZero();

            assertThat(pair.first()
                            .queuePair()
                            .postWriteWithImmediate(
                                    8,
                                    from.address(),
                                    length,
                                    local.localKey(),
                                    to.address(),
                                    remote.remoteKey(),
                                    immediate,
                                    SendFlag.SIGNALED))
                    .isZero();

            Completion received = pair.second().nextReceive();
            assertThat(received.status()).isEqualTo(WorkCompletionStatus.SUCCESS);
            assertThat(received.workRequestId()).isEqualTo(31);
            assertThat(received.opcode()).isEqualTo(WorkCompletionOpcode.RECEIVE_RDMA_WITH_IMMEDIATE);
            assertThat(received.hasImmediate()).isTrue();
            assertThat(received.immediate()).isEqualTo(immediate);
            assertThat(received.byteLength()).isEqualTo(length);
            assertThat(to.bytes()).isEqualTo(from.bytes());
            assertThat(pair.first().nextSend().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
        }
    }

    @Test
    default void takesManyEmptyReceivesAtOnce() {
        int count = 20;
        try (ConnectedPair pair = ConnectedPair.open(fabric(), settings())) {
            assertThat(pair.second().queuePair().postEmptyReceives(count)).isZero();
            for (int i = 0; i < count; i++) {
                assertThat(pair.first()
                                .queuePair()
                                .postWriteWithImmediate(i, 0, 0, 0, 0, 0, 100 + i, SendFlag.SIGNALED))
                        .isZero();

                Completion received = pair.second().nextReceive();
                assertThat(received.status()).isEqualTo(WorkCompletionStatus.SUCCESS);
                assertThat(received.workRequestId()).isZero();
                assertThat(received.immediate()).isEqualTo(100 + i);
                assertThat(pair.first().nextSend().workRequestId()).isEqualTo(i);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 7, 128, 4096, LONGEST})
    default void sends(int length) {
        try (ConnectedPair pair = ConnectedPair.open(fabric(), settings());
                NativeBuffer from = new NativeBuffer(length).randomize(new Random(length));
                NativeBuffer to = new NativeBuffer(length + 9)) {
            MemoryRegion local = pair.first().register(from);
            MemoryRegion target = pair.second().register(to);
            assertThat(pair.second().queuePair().postReceive(32, to.address(), to.length(), target.localKey()))
                    .isZero();

            assertThat(pair.first()
                            .queuePair()
                            .postSend(9, from.address(), length, local.localKey(), SendFlag.SIGNALED))
                    .isZero();

            Completion received = pair.second().nextReceive();
            assertThat(received.status()).isEqualTo(WorkCompletionStatus.SUCCESS);
            assertThat(received.workRequestId()).isEqualTo(32);
            assertThat(received.opcode()).isEqualTo(WorkCompletionOpcode.RECEIVE);
            assertThat(received.hasImmediate()).isFalse();
            assertThat(received.byteLength()).isEqualTo(length);
            assertThat(to.bytes(0, length)).isEqualTo(from.bytes());
            assertThat(to.bytes(length, 9)).containsOnly(0);
            assertThat(pair.first().nextSend().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
        }
    }

    @Test
    default void writesNothingButTheRange() {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        try (ConnectedPair pair = ConnectedPair.open(fabric(), settings());
                NativeBuffer from = new NativeBuffer(16_384).randomize(random);
                NativeBuffer to = new NativeBuffer(16_384)) {
            MemoryRegion local = pair.first().register(from);
            MemoryRegion remote = pair.second().register(to);
            byte[] expected = to.bytes();
            for (int i = 0; i < 100; i++) {
                int length = random.nextInt(i % 2 == 0 ? 64 : 8000);
                int source = random.nextInt(from.length() - length);
                int target = random.nextInt(to.length() - length);
                assertThat(pair.first()
                                .queuePair()
                                .postWrite(
                                        i,
                                        from.at(source),
                                        length,
                                        local.localKey(),
                                        to.at(target),
                                        remote.remoteKey(),
                                        SendFlag.SIGNALED))
                        .isZero();
                System.arraycopy(from.bytes(source, length), 0, expected, target, length);
                assertThat(pair.first().nextSend().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
                assertThat(to.bytes())
                        .as("write %d of seed %d: %d bytes from %d to %d", i, seed, length, source, target)
                        .isEqualTo(expected);
            }
        }
    }

    @Test
    default void takesInlinePayloadWhilePosting() {
        try (ConnectedPair pair = ConnectedPair.open(fabric(), settings());
                NativeBuffer memory = new NativeBuffer(32);
                NativeBuffer target = new NativeBuffer(32 * 16)) {
            MemoryRegion remote = pair.second().register(target);
            int length = Math.min(32, pair.first().queuePair().maxInlineBytes());
            assertThat(length).isEqualTo(32);

            for (int i = 0; i < 16; i++) {
                memory.fill((byte) (i + 1));
                int flags = SendFlag.INLINE | SendFlag.SIGNALED;
                // no local key: the memory is not registered
                assertThat(pair.first()
                                .queuePair()
                                .postWrite(
                                        i, memory.address(), length, 0, target.at(32L * i), remote.remoteKey(), flags))
                        .isZero();
            }
            memory.fill((byte) 0);

            for (int i = 0; i < 16; i++) {
                assertThat(pair.first().nextSend().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
                assertThat(target.bytes(32 * i, 32)).containsOnly(i + 1);
            }
        }
    }

    @Test
    default void movesDataBothWaysAtOnce() {
        int count = 40;
        int length = 100_000;
        try (ConnectedPair pair = ConnectedPair.open(fabric(), settings());
                NativeBuffer one = new NativeBuffer(2 * length).randomize(new Random(1));
                NativeBuffer other = new NativeBuffer(2 * length).randomize(new Random(2))) {
            MemoryRegion ones = pair.first().register(one);
            MemoryRegion others = pair.second().register(other);

            for (int i = 0; i < count; i++) {
                int flags = i == count - 1 ? SendFlag.SIGNALED : SendFlag.NONE;
                assertThat(pair.first()
                                .queuePair()
                                .postWrite(
                                        i,
                                        one.address(),
                                        length,
                                        ones.localKey(),
                                        other.at(length),
                                        others.remoteKey(),
                                        flags))
                        .isZero();
                assertThat(pair.second()
                                .queuePair()
                                .postWrite(
                                        i,
                                        other.address(),
                                        length,
                                        others.localKey(),
                                        one.at(length),
                                        ones.remoteKey(),
                                        flags))
                        .isZero();
            }

            assertThat(pair.first().nextSend().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
            assertThat(pair.second().nextSend().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
            assertThat(one.bytes(length, length)).isEqualTo(other.bytes(0, length));
            assertThat(other.bytes(length, length)).isEqualTo(one.bytes(0, length));
        }
    }

    @Test
    default void allocatesNothingWhilePostingAndPolling() {
        try (ConnectedPair pair = ConnectedPair.open(fabric(), settings());
                NativeBuffer memory = new NativeBuffer(4096);
                NativeBuffer target = new NativeBuffer(4096);
                WorkCompletions batch = new WorkCompletions(8)) {
            MemoryRegion local = pair.first().register(memory);
            MemoryRegion remote = pair.second().register(target);
            var queuePair = pair.first().queuePair();
            var completions = pair.first().sendCompletions();
            var receives = pair.second().receiveCompletions();
            int lkey = local.localKey();
            int rkey = remote.remoteKey();

            AllocationAssert.assertZeroAllocation(
                    () -> {
                        pair.second().queuePair().postReceive(1, 0, 0, 0);
                        queuePair.postWriteWithImmediate(
                                1, memory.address(), 256, lkey, target.address(), rkey, 5, SendFlag.SIGNALED);
                        takeOne(completions, batch);
                        takeOne(receives, batch);
                    },
                    2_000);
        }
    }

    private static void takeOne(CompletionQueue queue, WorkCompletions batch) {
        while (queue.poll(batch) == 0) {
            LockSupport.parkNanos(10_000); // the test's time limit ends it
        }
        if (batch.statusCode(0) != WorkCompletionStatus.SUCCESS_CODE) {
            throw new AssertionError("a request failed: " + Completion.of(batch, 0));
        }
    }
}
