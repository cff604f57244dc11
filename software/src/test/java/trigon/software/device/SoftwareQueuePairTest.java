package trigon.software.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import trigon.system.Errno;
import trigon.testsupport.Await;
import trigon.testsupport.LedgerAssert;
import trigon.testsupport.NativeBuffer;
import trigon.testsupport.verbs.ConnectedPair;
import trigon.testsupport.verbs.VerbsEnd;
import trigon.testsupport.verbs.VerbsFabric;
import trigon.verbs.CompletionQueue;
import trigon.verbs.Gid;
import trigon.verbs.GidEntry;
import trigon.verbs.LinkKind;
import trigon.verbs.LinkLayer;
import trigon.verbs.MemoryRegion;
import trigon.verbs.Mtu;
import trigon.verbs.PortAttributes;
import trigon.verbs.QueuePair;
import trigon.verbs.QueuePairAttributes;
import trigon.verbs.QueuePairCapacity;
import trigon.verbs.QueuePairStateCode;
import trigon.verbs.SendFlag;
import trigon.verbs.VerbsException;
import trigon.verbs.WorkCompletionStatus;
import trigon.verbs.WorkCompletions;

/** What the software device adds to the contract. */
@Timeout(180)
class SoftwareQueuePairTest {

    private final SoftwareVerbs provider = Loopback.provider();
    private final SoftwareVerbs other = Loopback.provider();
    private final VerbsFabric fabric = new VerbsFabric(
            new VerbsFabric.End(provider, "soft_a", 1, 0),
            new VerbsFabric.End(other, "soft_b", 1, 0),
            Optional.empty());

    @AfterEach
    void close() {
        LedgerAssert.assertNothingOpen(provider);
        provider.close();
        other.close();
    }

    @Test
    void describesItself() {
        assertThat(provider.linkKind()).isEqualTo(LinkKind.SOFTWARE);
        assertThat(provider.deviceNames()).containsExactly("soft_a", "soft_b", "soft_c");
        try (var context = provider.open("soft_a");
                var again = provider.open("soft_a")) {
            PortAttributes port = context.queryPort(1);
            assertThat(port.linkLayer()).isEqualTo(LinkLayer.TCP);
            assertThat(port.activeMtu()).isEqualTo(Mtu.MTU_4096);
            assertThat(port.maxMessageSize()).isEqualTo(1 << 30);
            assertThat(port.speedMbps()).isEqualTo(25_000);
            assertThat(port.lid())
                    .isBetween(1, 65535)
                    .isNotEqualTo(again.queryPort(1).lid());
            assertThat(context.gidTable(1))
                    .containsExactly(new GidEntry(0, Gid.of(Loopback.A.address()), GidEntry.Type.ROCE_V2, 1));
            assertErrno(Errno.EINVAL, () -> context.queryPort(2));
        }
    }

    @Test
    void refusesTwoDevicesOfOneName() {
        assertThatThrownBy(() -> new SoftwareVerbs(List.of(Loopback.A, Loopback.A)))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void movesMessagesLongerThanAnyBuffer() {
        int length = (20 << 20) + 13;
        try (ConnectedPair pair = ConnectedPair.open(fabric, Loopback.PATIENT);
                NativeBuffer from = new NativeBuffer(length).randomize(new Random(1));
                NativeBuffer to = new NativeBuffer(length)) {
            MemoryRegion local = pair.first().register(from);
            MemoryRegion remote = pair.second().register(to);
            QueuePair queuePair = pair.first().queuePair();
            queuePair.postWrite(
                    1, from.address(), length, local.localKey(), to.address(), remote.remoteKey(), SendFlag.SIGNALED);
            assertThat(pair.first().nextSend().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
            assertThat(to.bytes()).isEqualTo(from.bytes());
        }
    }

    @Test
    void refusesToPostBeforeItIsReady() {
        try (ConnectedPair pair = ConnectedPair.create(fabric, Loopback.PATIENT)) {
            QueuePair queuePair = pair.first().queuePair();
            assertThat(queuePair.postReceive(1, 0, 0, 0)).isEqualTo(Errno.EINVAL);
            assertThat(queuePair.postSend(1, 0, 0, 0, SendFlag.NONE)).isEqualTo(Errno.EINVAL);
            pair.first().becomeReadyToReceive(pair.second().endpoint());
            assertThat(queuePair.postReceive(1, 0, 0, 0)).isZero();
            assertThat(queuePair.postSend(1, 0, 0, 0, SendFlag.NONE)).isEqualTo(Errno.EINVAL);
        }
    }

    @Test
    void refusesMalformedRequests() {
        ConnectedPair pair = ConnectedPair.open(fabric, Loopback.PATIENT);
        QueuePair queuePair = pair.first().queuePair();
        try (pair) {
            int inline = SendFlag.INLINE;
            assertThat(queuePair.postWrite(1, 0, -1, 0, 0, 0, 0)).isEqualTo(Errno.EINVAL);
            assertThat(queuePair.postWrite(1, 0, (1 << 30) + 1, 0, 0, 0, 0)).isEqualTo(Errno.EINVAL);
            assertThat(queuePair.postWrite(1, 0, queuePair.maxInlineBytes() + 1, 0, 0, 0, inline))
                    .isEqualTo(Errno.EINVAL);
            assertThat(queuePair.postReceive(1, 0, -1, 0)).isEqualTo(Errno.EINVAL);
        }
        assertThat(queuePair.postSend(1, 0, 0, 0, SendFlag.NONE)).isEqualTo(Errno.EINVAL);
        assertThat(queuePair.postReceive(1, 0, 0, 0)).isEqualTo(Errno.EINVAL);
    }

    @Test
    void noticesAtOnceThatThePeersProcessIsGone() {
        SoftwareVerbs dying = Loopback.provider();
        VerbsEnd first = new VerbsEnd(fabric.first(), Loopback.PATIENT.withTimeout(31));
        VerbsEnd second = new VerbsEnd(new VerbsFabric.End(dying, "soft_b", 1, 0), Loopback.PATIENT.withTimeout(31));
        try (first;
                second) {
            first.becomeReadyToReceive(second.endpoint());
            second.becomeReadyToReceive(first.endpoint());
            dying.close();
            first.becomeReadyToSend();

            // the time limit is 17 hours
            first.queuePair().postSend(1, 0, 0, 0, SendFlag.NONE);
            assertThat(first.nextSend().status()).isEqualTo(WorkCompletionStatus.RETRY_EXCEEDED);
        }
        LedgerAssert.assertNothingOpen(dying);
    }

    @Test
    void stopsTheQueuePairsOfAnOverrunCompletionQueue() {
        try (ConnectedPair pair = ConnectedPair.open(fabric, Loopback.PATIENT);
                WorkCompletions batch = new WorkCompletions(512)) {
            QueuePair queuePair = pair.first().queuePair();
            Await.until("the completion queue overruns", () -> {
                queuePair.postWrite(1, 0, 0, 0, 0, 0, SendFlag.SIGNALED);
                return queuePair.queryState() == QueuePairStateCode.ERROR;
            });
            CompletionQueue completions = pair.first().sendCompletions();
            assertThat(completions.poll(batch)).isEqualTo(256);
            Await.until("polling fails", () -> completions.poll(batch) == -Errno.EIO);
        }
    }

    @Test
    void flushesAReceiveThatIsPostedInTheErrorState() {
        try (ConnectedPair pair = ConnectedPair.open(fabric, Loopback.PATIENT);
                NativeBuffer memory = new NativeBuffer(64)) {
            MemoryRegion local = pair.first().register(memory);
            pair.first()
                    .queuePair()
                    .modify(QueuePairAttributes.to(QueuePairStateCode.ERROR).build());

            assertThat(pair.first().queuePair().postReceive(5, memory.address(), 64, local.localKey()))
                    .isZero();

            assertThat(pair.first().nextReceive().status()).isEqualTo(WorkCompletionStatus.WR_FLUSHED);
        }
    }

    @Test
    void insistsOnTheOrderOfClosing() {
        try (ConnectedPair pair = ConnectedPair.open(fabric, Loopback.PATIENT)) {
            VerbsEnd end = pair.first();
            assertErrno(Errno.EBUSY, () -> end.sendCompletions().close());
            assertErrno(Errno.EBUSY, () -> end.protectionDomain().close());
            assertErrno(Errno.EBUSY, () -> end.context().close());
        }
    }

    @Test
    void refusesImpossibleCapacities() {
        try (var context = provider.open("soft_a");
                var otherContext = provider.open("soft_a");
                var domain = context.allocateProtectionDomain();
                var completions = context.createCompletionQueue(1);
                var foreign = otherContext.createCompletionQueue(1)) {
            assertErrno(Errno.EINVAL, () -> context.createCompletionQueue(0));
            for (int[] sizes : new int[][] {{0, 1, 0}, {1, -1, 0}, {20_000, 1, 0}, {1, 1, 2000}}) {
                assertErrno(
                        Errno.EINVAL,
                        () -> context.createQueuePair(
                                domain, new QueuePairCapacity(completions, completions, sizes[0], sizes[1], sizes[2])));
            }
            assertErrno(
                    Errno.EINVAL,
                    () -> context.createQueuePair(domain, new QueuePairCapacity(foreign, completions, 1, 1, 0)));
        }
    }

    private static void assertErrno(int errno, ThrowingCallable call) {
        assertThatThrownBy(call)
                .asInstanceOf(InstanceOfAssertFactories.type(VerbsException.class))
                .extracting(VerbsException::errno)
                .isEqualTo(errno);
    }
}
