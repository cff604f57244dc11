package trigon.testsupport.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;
import trigon.system.Errno;
import trigon.testsupport.LedgerAssert;
import trigon.testsupport.NativeBuffer;
import trigon.verbs.DeviceContext;
import trigon.verbs.MemoryRegion;
import trigon.verbs.PortState;
import trigon.verbs.QueuePair;
import trigon.verbs.QueuePairAttributes;
import trigon.verbs.QueuePairStateCode;
import trigon.verbs.SendFlag;
import trigon.verbs.VerbsException;
import trigon.verbs.WorkCompletionStatus;

/** Devices, the states of a queue pair, full queues, and closing. */
public interface LifecycleContract extends OnFabric {

    @Test
    default void describesItsDevices() {
        for (VerbsFabric.End end : new VerbsFabric.End[] {fabric().first(), fabric().second()}) {
            assertThat(end.provider().deviceNames()).contains(end.deviceName());
            try (DeviceContext context = end.provider().open(end.deviceName())) {
                assertThat(context.deviceName()).isEqualTo(end.deviceName());
                assertThat(context.attributes().portCount()).isGreaterThanOrEqualTo(end.port());
                assertThat(context.attributes().maxQueuePairWorkRequests()).isGreaterThanOrEqualTo(64);
                assertThat(context.attributes().maxCompletionQueueEntries()).isGreaterThanOrEqualTo(256);
                assertThat(context.queryPort(end.port()).state()).isEqualTo(PortState.ACTIVE);
                assertThat(context.queryPort(end.port()).maxMessageSize()).isGreaterThanOrEqualTo(LONGEST);
                assertThat(context.gidTable(end.port()))
                        .anySatisfy(entry -> assertThat(entry.index()).isEqualTo(end.gidIndex()));
            }
        }
    }

    @Test
    default void refusesAnUnknownDevice() {
        assertThatThrownBy(() -> fabric().first().provider().open("no_such_device"))
                .isInstanceOf(VerbsException.class)
                .hasMessageContaining("no_such_device");
    }

    @Test
    default void walksThroughTheStates() {
        try (ConnectedPair pair = ConnectedPair.create(fabric(), settings())) {
            VerbsEnd first = pair.first();
            QueuePair queuePair = first.queuePair();
            assertThat(queuePair.queryState()).isEqualTo(QueuePairStateCode.RESET);
            queuePair.modify(first.toInit());
            assertThat(queuePair.queryState()).isEqualTo(QueuePairStateCode.INIT);
            queuePair.modify(first.toReadyToReceive(pair.second().endpoint()));
            assertThat(queuePair.queryState()).isEqualTo(QueuePairStateCode.READY_TO_RECEIVE);
            queuePair.modify(first.toReadyToSend());
            assertThat(queuePair.queryState()).isEqualTo(QueuePairStateCode.READY_TO_SEND);
            queuePair.modify(to(QueuePairStateCode.ERROR));
            assertThat(queuePair.queryState()).isEqualTo(QueuePairStateCode.ERROR);
            queuePair.modify(to(QueuePairStateCode.RESET));
            assertThat(queuePair.queryState()).isEqualTo(QueuePairStateCode.RESET);
        }
    }

    @Test
    default void refusesIllegalTransitions() {
        try (ConnectedPair pair = ConnectedPair.create(fabric(), settings())) {
            VerbsEnd first = pair.first();
            QueuePairAttributes toReadyToReceive =
                    first.toReadyToReceive(pair.second().endpoint());

            assertRefused(first, toReadyToReceive);
            assertRefused(first, first.toReadyToSend());
            first.queuePair().modify(first.toInit());
            assertRefused(first, first.toReadyToSend());
            first.queuePair().modify(toReadyToReceive);
            assertRefused(first, first.toInit());
            assertRefused(first, toReadyToReceive);
            first.queuePair().modify(first.toReadyToSend());
            assertRefused(first, first.toInit());
            assertRefused(first, toReadyToReceive);
            first.queuePair().modify(to(QueuePairStateCode.ERROR));
            assertRefused(first, first.toInit());
            assertRefused(first, first.toReadyToSend());
        }
    }

    @Test
    default void refusesMissingAttributes() {
        try (ConnectedPair pair = ConnectedPair.create(fabric(), settings())) {
            VerbsEnd first = pair.first();

            assertRefused(first, to(QueuePairStateCode.INIT));
            first.queuePair().modify(first.toInit());
            assertRefused(first, to(QueuePairStateCode.READY_TO_RECEIVE));
            first.queuePair().modify(first.toReadyToReceive(pair.second().endpoint()));
            assertRefused(first, to(QueuePairStateCode.READY_TO_SEND));
        }
    }

    @Test
    default void refusesSuperfluousAttributes() {
        try (ConnectedPair pair = ConnectedPair.create(fabric(), settings())) {
            assertRefused(
                    pair.first(),
                    QueuePairAttributes.to(QueuePairStateCode.INIT)
                            .pkeyIndex(0)
                            .port(fabric().first().port())
                            .accessFlags(VerbsEnd.ALL_ACCESS)
                            .sendPsn(1)
                            .build());
        }
    }

    @Test
    default void flushesEverythingInTheErrorState() {
        try (ConnectedPair pair = ConnectedPair.open(fabric(), settings());
                NativeBuffer memory = new NativeBuffer(64)) {
            MemoryRegion local = pair.first().register(memory);
            QueuePair queuePair = pair.first().queuePair();
            for (int i = 0; i < 5; i++) {
                queuePair.postReceive(i, memory.address(), 64, local.localKey());
            }

            queuePair.modify(to(QueuePairStateCode.ERROR));
            queuePair.postSend(6, memory.address(), 64, local.localKey(), SendFlag.NONE);

            for (int i = 0; i < 5; i++) {
                Completion flushed = pair.first().nextReceive();
                assertThat(flushed.workRequestId()).isEqualTo(i);
                assertThat(flushed.status()).isEqualTo(WorkCompletionStatus.WR_FLUSHED);
            }
            assertThat(pair.first().nextSend().status()).isEqualTo(WorkCompletionStatus.WR_FLUSHED);
        }
    }

    @Test
    default void canBeConnectedAgainAfterReset() {
        try (ConnectedPair pair = ConnectedPair.open(fabric(), settings());
                NativeBuffer memory = new NativeBuffer(64).fill((byte) 7);
                NativeBuffer target = new NativeBuffer(64)) {
            MemoryRegion local = pair.first().register(memory);
            MemoryRegion remote = pair.second().register(target);
            for (VerbsEnd end : new VerbsEnd[] {pair.first(), pair.second()}) {
                end.queuePair().modify(to(QueuePairStateCode.RESET));
            }
            pair.first().becomeReadyToReceive(pair.second().endpoint());
            pair.second().becomeReadyToReceive(pair.first().endpoint());
            pair.first().becomeReadyToSend();
            pair.second().becomeReadyToSend();

            pair.first()
                    .queuePair()
                    .postWrite(
                            1,
                            memory.address(),
                            64,
                            local.localKey(),
                            target.address(),
                            remote.remoteKey(),
                            SendFlag.SIGNALED);

            assertThat(pair.first().nextSend().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
            assertThat(target.bytes()).containsOnly(7);
        }
    }

    @Test
    default void saysWhenTheReceiveQueueIsFull() {
        int asked = settings().workRequests();
        try (ConnectedPair pair = ConnectedPair.create(fabric(), settings())) {
            QueuePair queuePair = pair.first().queuePair();
            queuePair.modify(pair.first().toInit());
            int posted = 0;
            int result = 0;
            while (result == 0 && posted <= 64 * asked) {
                result = queuePair.postReceive(posted, 0, 0, 0);
                posted += result == 0 ? 1 : 0;
            }
            assertThat(result).isEqualTo(Errno.ENOMEM);
            assertThat(posted).isGreaterThanOrEqualTo(asked);
        }
    }

    @Test
    default void saysWhenTheSendQueueIsFull() {
        int asked = settings().workRequests();
        try (ConnectedPair pair = ConnectedPair.open(fabric(), settings());
                NativeBuffer memory = new NativeBuffer(64)) {
            MemoryRegion local = pair.first().register(memory);
            QueuePair queuePair = pair.first().queuePair();
            int posted = 0;
            int result = 0;
            while (result == 0 && posted <= 64 * asked) { // nobody receives, so none of them completes
                result = queuePair.postSend(posted, memory.address(), 64, local.localKey(), SendFlag.NONE);
                posted += result == 0 ? 1 : 0;
            }
            assertThat(result).isEqualTo(Errno.ENOMEM);
            assertThat(posted).isGreaterThanOrEqualTo(asked);
        }
    }

    @Test
    default void mayBeClosedTwice() {
        ConnectedPair pair = ConnectedPair.open(fabric(), settings());
        try (NativeBuffer memory = new NativeBuffer(64)) {
            MemoryRegion region = pair.first().register(memory);
            region.close();
            region.close();
        }
        pair.close();
        pair.first().queuePair().close();
        pair.first().sendCompletions().close();
        pair.first().protectionDomain().close();
        pair.first().context().close();
        LedgerAssert.assertNothingOpen(fabric().first().provider());
    }

    private static QueuePairAttributes to(QueuePairStateCode state) {
        return QueuePairAttributes.to(state).build();
    }

    private static void assertRefused(VerbsEnd end, QueuePairAttributes attributes) {
        QueuePairStateCode before = end.queuePair().queryState();
        assertThatThrownBy(() -> end.queuePair().modify(attributes))
                .as("%s %s", before, attributes)
                .asInstanceOf(InstanceOfAssertFactories.type(VerbsException.class))
                .extracting(VerbsException::errno)
                .isEqualTo(Errno.EINVAL);
        assertThat(end.queuePair().queryState()).isEqualTo(before);
    }
}
