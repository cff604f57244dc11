package trigon.integration.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import trigon.system.Errno;
import trigon.system.Memory;
import trigon.testsupport.verbs.Read;
import trigon.verbs.AccessFlag;
import trigon.verbs.AddressVector;
import trigon.verbs.DeviceContext;
import trigon.verbs.Gid;
import trigon.verbs.GidEntry;
import trigon.verbs.LinkLayer;
import trigon.verbs.MemoryRegion;
import trigon.verbs.Mtu;
import trigon.verbs.PortState;
import trigon.verbs.ProtectionDomain;
import trigon.verbs.QueuePairAttributes;
import trigon.verbs.QueuePairStateCode;
import trigon.verbs.ResourceLedger;
import trigon.verbs.SendFlag;
import trigon.verbs.VerbsAvailability.Available;
import trigon.verbs.VerbsException;
import trigon.verbs.VerbsProvider;
import trigon.verbs.WorkCompletionOpcode;
import trigon.verbs.WorkCompletionStatus;
import trigon.verbs.ffm.Libibverbs;

/** What is libibverbs' own: devices, tables, errors and their advice, and that the data path allocates nothing. */
@Timeout(180)
class LibibverbsLabTest {

    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final VerbsProvider provider = ((Available) Libibverbs.load()).provider();

    @AfterEach
    void nothingStaysOpen() {
        assertThat(provider.ledger().outstanding()).isEmpty();
    }

    @Test
    void listsTheDevicesOfTheLab() {
        assertThat(provider.deviceNames())
                .containsExactlyInAnyOrder("rxe_ab", "rxe_ba", "rxe_ac", "rxe_ca", "rxe_bc", "rxe_cb");
    }

    @Test
    void reportsDeviceAndPortAttributes() {
        try (DeviceContext context = provider.open("rxe_ab")) {
            var device = context.attributes();
            assertThat(device.portCount()).isEqualTo(1);
            assertThat(device.nodeGuid()).isNotZero();
            assertThat(device.maxQueuePairWorkRequests()).isGreaterThan(1000);
            assertThat(device.maxCompletionQueueEntries()).isGreaterThan(1000);
            assertThat(device.maxReadAtomic()).isGreaterThan(1);

            var port = context.queryPort(1);
            assertThat(port.state()).isEqualTo(PortState.ACTIVE);
            assertThat(port.linkLayer()).isEqualTo(LinkLayer.ETHERNET);
            assertThat(port.activeMtu()).isEqualTo(Mtu.MTU_4096);
            assertThat(port.maxMessageSize()).isGreaterThanOrEqualTo(1L << 20);
            assertThat(port.speedMbps()).isPositive();
        }
    }

    @Test
    void reportsEachGidWithItsNetworkInterface() throws Exception {
        InetAddress address = InetAddress.getByName("10.0.12.1");
        try (DeviceContext context = provider.open("rxe_ab")) {
            List<GidEntry> table = context.gidTable(1);

            assertThat(table).allSatisfy(entry -> {
                assertThat(entry.gid().isZero()).isFalse();
                assertThat(entry.type()).isEqualTo(GidEntry.Type.ROCE_V2);
            });
            assertThat(table)
                    .contains(new GidEntry(
                            SoftRoceLink.GID_INDEX,
                            Gid.of(address),
                            GidEntry.Type.ROCE_V2,
                            NetworkInterface.getByInetAddress(address).getIndex()));
        }
    }

    @Test
    void refusesAPortThatIsNotThere() {
        try (DeviceContext context = provider.open("rxe_ab")) {
            assertThatExceptionOfType(VerbsException.class)
                    .isThrownBy(() -> context.queryPort(7))
                    .withMessageContaining("rxe_ab port 7")
                    .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.EINVAL));
        }
    }

    @Test
    void takesNoPortNumberForAnother() {
        try (DeviceContext context = provider.open("rxe_ab")) {
            assertThatExceptionOfType(VerbsException.class)
                    .isThrownBy(() -> context.queryPort(257))
                    .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.EINVAL));
        }
    }

    @Test
    void namesTheDevicesWhenAskedForAnother() {
        assertThatExceptionOfType(VerbsException.class)
                .isThrownBy(() -> provider.open("mlx5_0"))
                .withMessageContaining("mlx5_0")
                .withMessageContaining("rxe_ab")
                .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.ENODEV));
    }

    @Test
    void writesAndReportsTheImmediateInOrder() {
        try (SoftRoceLink link = new SoftRoceLink(provider).connect()) {
            Memory.putLong(link.a.region.address(), 0x1122334455667788L);
            assertThat(link.b.queuePair.postReceive(7, 0, 0, 0)).isZero();

            assertThat(link.a.queuePair.postWriteWithImmediate(
                            8,
                            link.a.region.address(),
                            8,
                            link.a.region.localKey(),
                            link.b.region.address() + 64,
                            link.b.region.remoteKey(),
                            0xCAFEF00D,
                            SendFlag.SIGNALED))
                    .isZero();

            link.b.awaitOne(LIMIT);
            assertThat(link.b.batch.statusCode(0)).isEqualTo(WorkCompletionStatus.SUCCESS_CODE);
            assertThat(link.b.batch.opcode(0)).isEqualTo(WorkCompletionOpcode.RECEIVE_RDMA_WITH_IMMEDIATE);
            assertThat(link.b.batch.workRequestId(0)).isEqualTo(7);
            assertThat(link.b.batch.hasImmediate(0)).isTrue();
            assertThat(link.b.batch.immediate(0)).isEqualTo(0xCAFEF00D);
            assertThat(link.b.batch.byteLength(0)).isEqualTo(8);
            assertThat(link.b.batch.queuePairNumber(0)).isEqualTo(link.b.queuePair.number());
            assertThat(Memory.getLong(link.b.region.address() + 64)).isEqualTo(0x1122334455667788L);
            link.a.awaitOne(LIMIT);
            assertThat(link.a.batch.workRequestId(0)).isEqualTo(8);
            assertThat(link.a.batch.opcode(0)).isEqualTo(WorkCompletionOpcode.RDMA_WRITE);
        }
    }

    @Test
    void sendsAndReads() {
        try (SoftRoceLink link = new SoftRoceLink(provider).connect()) {
            long local = link.a.region.address();
            long remote = link.b.region.address();
            Memory.putLong(local, 42);
            assertThat(link.b.queuePair.postReceive(1, remote, 8, link.b.region.localKey()))
                    .isZero();
            assertThat(link.a.queuePair.postSend(2, local, 8, 0, SendFlag.SIGNALED | SendFlag.INLINE))
                    .isZero();
            link.b.awaitOne(LIMIT);
            link.a.awaitOne(LIMIT);
            assertThat(link.b.batch.opcode(0)).isEqualTo(WorkCompletionOpcode.RECEIVE);
            assertThat(Memory.getLong(remote)).isEqualTo(42);

            assertThat(new Read(4, local + 16, 8, link.a.region.localKey(), remote, link.b.region.remoteKey())
                            .post(link.a.queuePair))
                    .isZero();
            link.a.awaitOne(LIMIT);
            assertThat(link.a.batch.opcode(0)).isEqualTo(WorkCompletionOpcode.RDMA_READ);
            assertThat(Memory.getLong(local + 16)).isEqualTo(42);
        }
    }

    @Test
    void allocatesNothingWhilePostingAndPolling() {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        try (SoftRoceLink link = new SoftRoceLink(provider).connect()) {
            writeTimes(link, 3_000);
            threads.getCurrentThreadAllocatedBytes();
            long before = threads.getCurrentThreadAllocatedBytes();
            long probe = threads.getCurrentThreadAllocatedBytes() - before;

            before = threads.getCurrentThreadAllocatedBytes();
            writeTimes(link, 1_000);
            long allocated = threads.getCurrentThreadAllocatedBytes() - before - probe;

            assertThat(allocated).isZero();
        }
    }

    private static void writeTimes(SoftRoceLink link, int times) {
        long deadline = System.nanoTime() + LIMIT.toNanos();
        for (int i = 0; i < times; i++) {
            int errno = link.a.queuePair.postWrite(
                    i,
                    link.a.region.address(),
                    64,
                    link.a.region.localKey(),
                    link.b.region.address(),
                    link.b.region.remoteKey(),
                    SendFlag.SIGNALED);
            int taken = 0;
            while (errno == 0 && taken == 0 && System.nanoTime() - deadline < 0) {
                taken = link.a.completions.poll(link.a.batch);
            }
            if (taken != 1 || link.a.batch.statusCode(0) != WorkCompletionStatus.SUCCESS_CODE) {
                throw new AssertionError("write " + i + ": errno " + errno + ", completions " + taken);
            }
        }
    }

    @Test
    void reportsAWriteToDeregisteredMemory() {
        try (SoftRoceLink link = new SoftRoceLink(provider).connect()) {
            link.b.region.close();

            assertThat(link.a.queuePair.postWrite(
                            1,
                            link.a.region.address(),
                            8,
                            link.a.region.localKey(),
                            link.b.region.address(),
                            link.b.region.remoteKey(),
                            SendFlag.NONE))
                    .isZero();

            link.a.awaitOne(LIMIT);
            assertThat(WorkCompletionStatus.ofCode(link.a.batch.statusCode(0)))
                    .isEqualTo(WorkCompletionStatus.REMOTE_ACCESS_ERROR);
            assertThat(link.a.queuePair.queryState()).isEqualTo(QueuePairStateCode.ERROR);
        }
    }

    @Test
    void refusesPostsThatCannotBeCarriedOut() {
        try (SoftRoceLink link = new SoftRoceLink(provider).connect()) {
            long local = link.a.region.address();
            int key = link.a.region.localKey();
            int tooLong = link.a.queuePair.maxInlineBytes() + 1;
            assertThat(link.a.queuePair.postSend(1, local, tooLong, key, SendFlag.INLINE))
                    .isEqualTo(Errno.EINVAL);
            assertThat(link.a.queuePair.postSend(1, local, -1, key, SendFlag.NONE))
                    .isEqualTo(Errno.EINVAL);
            link.a.queuePair.close();
            assertThat(link.a.queuePair.postSend(1, local, 8, key, SendFlag.NONE))
                    .isEqualTo(Errno.EINVAL);
            assertThat(link.a.queuePair.postReceive(1, local, 8, key)).isEqualTo(Errno.EINVAL);
            link.a.completions.close();
            assertThat(link.a.completions.poll(link.a.batch)).isEqualTo(-Errno.EINVAL);
        }
    }

    @Test
    void fillsItsReceiveQueueAndNoMore() {
        try (SoftRoceLink link = new SoftRoceLink(provider).connect()) {
            int posted = 0;
            int errno = 0;
            while (errno == 0 && posted < 100_000) {
                errno = link.b.queuePair.postReceive(posted, 0, 0, 0);
                posted += errno == 0 ? 1 : 0;
            }
            assertThat(errno).isEqualTo(Errno.ENOMEM);
            assertThat(posted).isGreaterThanOrEqualTo(SoftRoceLink.QUEUE_DEPTH);
        }
    }

    @Test
    void explainsAnAddressThatDoesNotResolve() throws Exception {
        Gid nobody = Gid.of(InetAddress.getByName("10.0.12.77"));
        try (SoftRoceLink link = new SoftRoceLink(provider)) {
            link.a.queuePair.modify(QueuePairAttributes.to(QueuePairStateCode.INIT)
                    .pkeyIndex(0)
                    .port(1)
                    .accessFlags(Set.of())
                    .build());
            QueuePairAttributes toNobody = QueuePairAttributes.to(QueuePairStateCode.READY_TO_RECEIVE)
                    .addressVector(new AddressVector(nobody, SoftRoceLink.GID_INDEX, 0, 0, 0, 64, 1))
                    .pathMtu(Mtu.MTU_1024)
                    .destinationNumber(17)
                    .receivePsn(0)
                    .maxDestinationReadAtomic(1)
                    .minRnrTimer(12)
                    .build();

            assertThatExceptionOfType(VerbsException.class)
                    .isThrownBy(() -> link.a.queuePair.modify(toNobody))
                    .withMessageContaining("queue pair 0x")
                    .satisfies(e -> assertThat(e.errno()).isIn(Errno.ETIMEDOUT, Errno.EHOSTUNREACH, Errno.ENETUNREACH));
        }
    }

    @Test
    void registersWithRelaxedOrderingWhereTheKernelKnowsIt() {
        try (SoftRoceLink link = new SoftRoceLink(provider);
                MemoryRegion region = link.a.domain.registerMemory(
                        link.a.region.address(),
                        4096,
                        EnumSet.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE, AccessFlag.RELAXED_ORDERING))) {
            assertThat(region.length()).isEqualTo(4096);
            assertThat(region.remoteKey()).isNotEqualTo(link.a.region.remoteKey());
        }
    }

    @Test
    void explainsMemoryThatCannotBeRegistered() {
        try (DeviceContext context = provider.open("rxe_ab");
                ProtectionDomain domain = context.allocateProtectionDomain()) {
            assertThatExceptionOfType(VerbsException.class)
                    .isThrownBy(() -> domain.registerMemory(4096, 4096, Set.of(AccessFlag.LOCAL_WRITE)))
                    .withMessageContaining("4096 bytes at 0x1000")
                    .withMessageContaining("not mapped")
                    .satisfies(e -> assertThat(e.errno()).isIn(Errno.EFAULT, Errno.ENOMEM));
        }
    }

    @Test
    void explainsACompletionQueueThatIsTooLarge() {
        try (DeviceContext context = provider.open("rxe_ab")) {
            assertThatExceptionOfType(VerbsException.class)
                    .isThrownBy(() -> context.createCompletionQueue(Integer.MAX_VALUE))
                    .withMessageContaining("2147483647 entries")
                    .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.EINVAL));
        }
    }

    @Test
    void staysOpenUntilWhatWasMadeOfItIsClosed() {
        DeviceContext context = provider.open("rxe_ab");
        ProtectionDomain domain = context.allocateProtectionDomain();

        context.close();
        assertThat(provider.ledger().count(ResourceLedger.Kind.DEVICE_CONTEXT)).isEqualTo(1);

        domain.close();
        domain.close();
        context.close();
        context.close();
        assertThat(provider.ledger().outstanding()).isEmpty();
    }
}
