package trigon.transport.path;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static trigon.transport.testsupport.Connected.finish;
import static trigon.transport.testsupport.Connected.retry;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import trigon.system.Errno;
import trigon.system.Memory;
import trigon.transport.testsupport.Connected;
import trigon.transport.testsupport.TestCluster;
import trigon.transport.testsupport.TestNode;
import trigon.verbs.LinkKind;
import trigon.verbs.ResourceLedger.Kind;
import trigon.verbs.VerbsException;

/**
 * A process whose locked memory is limited, on the lab's link a-b: a registration that does not fit is an error that
 * names the limit, costs nothing, and leaves the job as it was. A program of its own, since the limit is the process's.
 */
public final class LockedMemoryCheck {

    /** Said at the end, if all was well. */
    public static final String DONE = "locked memory: as it should be";

    private static final int TAG = 5;
    private static final int MIB = 1 << 20;
    private static final int TOO_MUCH = 64 * MIB;

    private LockedMemoryCheck() {}

    /**
     * Checks it, or ends with an exception.
     *
     * @param arguments a directory, and the limit in bytes as the process has it
     */
    public static void main(String[] arguments) throws IOException {
        Path directory = Path.of(arguments[0]);
        String limit = arguments[1];
        TestCluster cluster = TestCluster.of(directory, LinkKind.RDMA, """
                a: {nics: [{device: rxe_ab, address: 10.0.12.1/24}]}
                b: {nics: [{device: rxe_ba, address: 10.0.12.2/24}]}
                """);
        TestNode a = cluster.open("a");
        TestNode b = cluster.open("b");
        try (a;
                b) {
            check(a, b, limit);
        }
        assertThat(a.verbs().ledger().outstanding()).isEmpty();
        assertThat(b.verbs().ledger().outstanding()).isEmpty();
        System.out.println(DONE);
    }

    private static void check(TestNode a, TestNode b, String limit) throws IOException {
        Connected ab = new Connected(a, b);
        long from = a.allocate(TOO_MUCH);
        long to = b.allocate(MIB);
        long fromHandle = a.register(ab.sendComm, from, MIB);
        long toHandle = b.register(ab.receiveComm, to, MIB);

        int regions = regions(a);
        String pinned = pinned();
        for (int i = 0; i < 50; i++) {
            assertRefused(() -> a.register(ab.sendComm, from, TOO_MUCH), limit);
        }
        assertThat(regions(a)).isEqualTo(regions);
        assertThat(pinned()).isEqualTo(pinned);
        carry(a, b, ab, from, fromHandle, to, toHandle);

        Deque<Long> filling = new ArrayDeque<>();
        try {
            while (filling.size() < TOO_MUCH / MIB) {
                filling.add(a.register(ab.sendComm, from + (long) filling.size() * MIB, MIB));
            }
            throw new AssertionError("all of it could be registered");
        } catch (VerbsException e) {
            assertThat(filling).isNotEmpty();
        }
        a.plugin.deregisterMemory(ab.sendComm, filling.removeLast());
        filling.add(a.register(ab.sendComm, from, MIB));
        assertRefused(() -> a.register(ab.sendComm, from, MIB), limit);
        carry(a, b, ab, from, fromHandle, to, toHandle);
        for (long handle : filling) {
            a.plugin.deregisterMemory(ab.sendComm, handle);
        }
        assertThat(regions(a)).isEqualTo(regions);
        assertThat(pinned()).isEqualTo(pinned);
    }

    private static void assertRefused(ThrowingCallable registration, String limit) {
        assertThatThrownBy(registration)
                .isInstanceOfSatisfying(
                        VerbsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.ENOMEM))
                .hasMessageContaining("ibv_reg_mr")
                .hasMessageContaining("ulimit -l")
                .hasMessageContaining(limit + " bytes");
    }

    private static int regions(TestNode node) {
        return node.verbs().ledger().count(Kind.MEMORY_REGION);
    }

    /** What the kernel holds in place for this process. */
    private static String pinned() throws IOException {
        return Files.readAllLines(Path.of("/proc/self/status")).stream()
                .filter(line -> line.startsWith("VmPin"))
                .findFirst()
                .orElseThrow();
    }

    private static void carry(
            TestNode a, TestNode b, Connected ab, long from, long fromHandle, long to, long toHandle) {
        Memory.fill(from, MIB, (byte) 7);
        Memory.fill(to, MIB, (byte) 0);
        long receive = retry(() -> b.plugin.irecv(ab.receiveComm, to, MIB, TAG, toHandle));
        long send = retry(() -> a.plugin.isend(ab.sendComm, from, MIB, TAG, fromHandle));
        assertThat(finish(a, send)).isEqualTo(MIB);
        assertThat(finish(b, receive)).isEqualTo(MIB);
        assertThat(Memory.segment(to, MIB).mismatch(Memory.segment(from, MIB))).isEqualTo(-1);
    }
}
