package trigon.entry.net;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import trigon.entry.host.CallFailures;
import trigon.entry.log.NcclLogger;
import trigon.nccl.NcclResult;
import trigon.nccl.NetPlugin;

class UpcallTargetsTest {

    private static final int INVALID_ARGUMENT = NcclResult.INVALID_ARGUMENT.code();
    private static final int REMOTE_ERROR = NcclResult.REMOTE_ERROR.code();
    private static final long STALE = 0xdead0;
    private static final long DEFAULT_CONTEXT = -1;

    private final Arena arena = Arena.ofConfined();
    private final CannedPlugin plugin = new CannedPlugin();
    private final MemorySegment out = arena.allocate(8, 8);
    private final MemorySegment addresses = arena.allocate(8, 8);
    private final MemorySegment sizes = arena.allocate(8, 8);
    private final MemorySegment tags = arena.allocate(8, 8);
    private final MemorySegment memoryHandles = arena.allocate(8, 8);
    private ControlUpcalls control;
    private DataPathUpcalls dataPath;

    @BeforeEach
    void wire() throws ReflectiveOperationException {
        MethodType type = MethodType.methodType(int.class, int.class, long.class, long.class);
        CallFailures failures = new CallFailures(new NcclLogger(Linker.nativeLinker()
                .upcallStub(
                        MethodHandles.lookup().findStatic(UpcallTargetsTest.class, "logLine", type),
                        FunctionDescriptor.of(
                                ValueLayout.JAVA_INT,
                                ValueLayout.JAVA_INT,
                                ValueLayout.JAVA_LONG,
                                ValueLayout.JAVA_LONG),
                        arena)
                .address()));
        control = new ControlUpcalls(plugin, failures);
        dataPath = new DataPathUpcalls(plugin, failures);
        addresses.set(ValueLayout.JAVA_LONG, 0, 0x7000);
        sizes.set(ValueLayout.JAVA_LONG, 0, 512);
        tags.set(ValueLayout.JAVA_INT, 0, 9);
        memoryHandles.set(ValueLayout.JAVA_LONG, 0, 0x44);
    }

    @AfterEach
    void close() {
        arena.close();
    }

    @SuppressWarnings("unused")
    private static int logLine(int level, long subsystems, long text) {
        return 1;
    }

    private int irecv() {
        return dataPath.irecv(
                0x10, addresses.address(), sizes.address(), tags.address(), memoryHandles.address(), out.address());
    }

    @Test
    void passesWhatNcclReceivesInto() {
        plugin.answer = 0x99;
        out.set(ValueLayout.JAVA_LONG, 0, STALE);

        assertThat(irecv()).isZero();
        assertThat(out.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(0x99);
        assertThat(plugin.comm).isEqualTo(0x10);
        assertThat(plugin.address).isEqualTo(0x7000);
        assertThat(plugin.size).isEqualTo(512);
        assertThat(plugin.tag).isEqualTo(9);
        assertThat(plugin.memoryHandle).isEqualTo(0x44);
    }

    @Test
    void overwritesTheMarkerOfOptionalCompletion() {
        plugin.answer = NetPlugin.TRY_AGAIN;
        out.set(ValueLayout.JAVA_LONG, 0, 1);

        assertThat(irecv()).isZero();
        assertThat(out.get(ValueLayout.JAVA_LONG, 0)).isZero();
    }

    @Test
    void refusesSizesThatNcclNeverSends() {
        assertThat(dataPath.isend(1, 0x7000, -1, 0, 0, out.address())).isEqualTo(INVALID_ARGUMENT);
        assertThat(dataPath.isend(1, 0x7000, (1L << 30) + 1, 0, 0, out.address()))
                .isEqualTo(INVALID_ARGUMENT);
        assertThat(dataPath.isend(1, 0, 1, 0, 0, out.address())).isEqualTo(INVALID_ARGUMENT);
        assertThat(dataPath.isend(1, 0, 0, 0, 0, out.address())).isZero();
    }

    @Test
    void turnsNegativeAnswersIntoResults() {
        plugin.answer = -REMOTE_ERROR;
        out.set(ValueLayout.JAVA_LONG, 0, STALE);

        assertThat(irecv()).isEqualTo(REMOTE_ERROR);
        assertThat(out.get(ValueLayout.JAVA_LONG, 0)).isZero();
        assertThat(dataPath.test(5, out.address(), 0)).isEqualTo(REMOTE_ERROR);
        assertThat(out.get(ValueLayout.JAVA_INT, 0)).isZero();
    }

    @Test
    void reportsWhatIsDone() {
        plugin.answer = NetPlugin.NOT_DONE;
        assertThat(dataPath.test(5, out.address(), sizes.address())).isZero();
        assertThat(out.get(ValueLayout.JAVA_INT, 0)).isZero();

        plugin.answer = 0;
        assertThat(dataPath.test(5, out.address(), sizes.address())).isZero();
        assertThat(out.get(ValueLayout.JAVA_INT, 0)).isEqualTo(1);
        assertThat(sizes.get(ValueLayout.JAVA_INT, 0)).isZero();
        assertThat(dataPath.test(5, out.address(), 0)).isZero();
    }

    @Test
    void opensOneContextForTheVersionsWithout() {
        plugin.answer = 0x30;
        assertThat(control.openDefaultContext()).isZero();
        assertThat(control.openDefaultContext()).isZero();
        assertThat(control.listen(DEFAULT_CONTEXT, 0, 0x7000, out.address())).isZero();

        assertThat(plugin.contextsOpened).isEqualTo(1);
        assertThat(plugin.context).isEqualTo(0x30);
    }

    @Test
    void passesTheTrafficClass() {
        plugin.answer = 0x30;
        MemorySegment config = arena.allocate(4, 4);
        config.set(ValueLayout.JAVA_INT, 0, 5);

        assertThat(control.connect(0x30, 0, 0x7000, config.address(), out.address()))
                .isZero();
        assertThat(plugin.trafficClass).isEqualTo(5);
        assertThat(control.connect(0x30, 0, 0x7000, 0, out.address())).isZero();
        assertThat(plugin.trafficClass).isEqualTo(NetPlugin.TRAFFIC_CLASS_UNDEFINED);
    }

    @Test
    void passesWhatADescriptorLends() {
        plugin.answer = 0x44;
        MemorySegment lent = arena.allocateFrom(ValueLayout.JAVA_LONG, 0x7000, 1 << 20, 4096, 17);

        assertThat(control.registerDmaBuf(0x10, lent.address(), out.address())).isZero();
        assertThat(out.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(0x44);
        assertThat(plugin.comm).isEqualTo(0x10);
        assertThat(plugin.address).isEqualTo(0x7000);
        assertThat(plugin.size).isEqualTo(1 << 20);
        assertThat(plugin.memoryHandle).as("offset").isEqualTo(4096);
        assertThat(plugin.tag).as("descriptor").isEqualTo(17);
    }

    @Test
    void leavesOutPointersAloneWhereCallsFail() {
        plugin.failure = new IllegalStateException("told to fail");

        assertThat(control.listen(1, 0, 0x7000, out.address())).isEqualTo(NcclResult.INTERNAL_ERROR.code());
        assertThat(control.accept(1, out.address())).isEqualTo(NcclResult.INTERNAL_ERROR.code());
        assertThat(out.get(ValueLayout.JAVA_LONG, 0)).isZero();
    }

    @Test
    void closesWithSuccessWhateverHappens() {
        plugin.failure = new IllegalStateException("told to fail");

        assertThat(control.closeSend(1)).isZero();
        assertThat(control.closeReceive(1)).isZero();
        assertThat(control.closeListen(1)).isZero();
        assertThat(control.deregisterMemory(1, 2)).isZero();
        assertThat(control.closeContext(1)).isZero();
    }

    @Test
    void allocatesNothingOnTheDataPath() {
        plugin.answer = 0x99;
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        run(20_000);
        threads.getCurrentThreadAllocatedBytes();
        long before = threads.getCurrentThreadAllocatedBytes();
        long probe = threads.getCurrentThreadAllocatedBytes() - before;
        before = threads.getCurrentThreadAllocatedBytes();
        run(200_000);

        assertThat(threads.getCurrentThreadAllocatedBytes() - before - probe).isLessThan(10_000);
    }

    private void run(int rounds) {
        for (int i = 0; i < rounds; i++) {
            irecv();
            dataPath.isend(1, 0x7000, 8, 0, 0x44, out.address());
            dataPath.test(5, out.address(), sizes.address());
        }
    }
}
