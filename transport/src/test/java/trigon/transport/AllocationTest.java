package trigon.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import trigon.testsupport.AllocationAssert;
import trigon.verbs.LinkKind;

@Timeout(180)
class AllocationTest {

    /** What the JDK allocates for one: sun.nio.ch.IOUtil.LinkedRunnable and a Runnable. */
    private static final int GATHERING_WRITE_BYTES = 40;

    @Test
    void aMessageAllocatesNothingOnTheCallingThread(@TempDir Path directory) {
        TestCluster cluster = TestCluster.software(directory, """
                a: {nics: [{address: 127.1.12.1/24}]}
                b: {nics: [{address: 127.1.12.2/24}]}
                """);
        try (TestNode a = cluster.open("a");
                TestNode b = cluster.open("b")) {
            Connected ab = new Connected(a, b);
            long from = a.allocate(64);
            long to = b.allocate(64);
            long fromHandle = a.register(ab.sendComm, from, 64);
            long toHandle = b.register(ab.receiveComm, to, 64);

            AllocationAssert.assertZeroAllocation(() -> message(ab, 64, from, fromHandle, to, toHandle), 20_000);
        }
    }

    /**
     * But what the JDK does for each part, in SocketChannel.write of a header and a payload. Shares change now and then, by
     * the way.
     */
    @Test
    void aMessageInPartsAllocatesNothingEither(@TempDir Path directory) {
        TestCluster cluster = TestCluster.striped(directory, LinkKind.SOFTWARE, 1, """
                a: {nics: [{address: 127.1.12.1/24}, {address: 127.1.13.1/24}]}
                b: {nics: [{address: 127.1.12.2/24}, {address: 127.1.13.2/24}]}
                """);
        try (TestNode a = cluster.open("a");
                TestNode b = cluster.open("b")) {
            Connected ab = new Connected(a, b);
            int size = 2 * StripedSendComm.LEAST_DIVIDED_BYTES;
            long from = a.allocate(size);
            long to = b.allocate(size);
            long fromHandle = a.register(ab.sendComm, from, size);
            long toHandle = b.register(ab.receiveComm, to, size);

            AllocationAssert.assertZeroAllocation(() -> message(ab, 64, from, fromHandle, to, toHandle), 5_000);
            AllocationAssert.assertAllocationAtMost(
                    () -> message(ab, size, from, fromHandle, to, toHandle), 5_000, 2 * GATHERING_WRITE_BYTES);
        }
    }

    private static void message(Connected ab, int size, long from, long fromHandle, long to, long toHandle) {
        long receive = ab.receiver.plugin.irecv(ab.receiveComm, to, size, 0, toHandle, false);
        long send = NetPlugin.TRY_AGAIN;
        while (send == NetPlugin.TRY_AGAIN) {
            send = ab.sender.plugin.isend(ab.sendComm, from, size, 0, fromHandle);
        }
        long sent = NetPlugin.NOT_DONE;
        while (sent == NetPlugin.NOT_DONE) {
            sent = ab.sender.plugin.test(send);
        }
        long received = NetPlugin.NOT_DONE;
        while (received == NetPlugin.NOT_DONE) {
            received = ab.receiver.plugin.test(receive);
        }
        if (sent != size || received != size) {
            throw new AssertionError("sent " + sent + ", received " + received);
        }
    }

    @Test
    void anEmptyTestAndASendWithoutRoomAllocateNothing(@TempDir Path directory) {
        TestCluster cluster = TestCluster.software(directory, """
                a: {nics: [{address: 127.1.12.1/24}]}
                b: {nics: [{address: 127.1.12.2/24}]}
                """);
        try (TestNode a = cluster.open("a");
                TestNode b = cluster.open("b")) {
            Connected ab = new Connected(a, b);
            long from = a.allocate(64);
            long to = b.allocate(64);
            long fromHandle = a.register(ab.sendComm, from, 64);
            long toHandle = b.register(ab.receiveComm, to, 64);
            for (int i = 0; i < RequestRing.SLOTS; i++) {
                assertThat(a.plugin.isend(ab.sendComm, from, 0, 0, fromHandle)).isPositive();
            }
            assertThat(a.plugin.isend(ab.sendComm, from, 0, 0, fromHandle)).isEqualTo(NetPlugin.TRY_AGAIN);
            long receive = b.plugin.irecv(ab.receiveComm, to, 64, 0, toHandle, false);

            assertThat(Connected.finish(b, receive)).isZero();
            for (int i = 1; i < RequestRing.SLOTS; i++) {
                long next = b.plugin.irecv(ab.receiveComm, to, 64, 0, toHandle, false);
                assertThat(Connected.finish(b, next)).isZero();
            }
            long empty = b.plugin.irecv(ab.receiveComm, to, 64, 0, toHandle, false);

            AllocationAssert.assertZeroAllocation(() -> b.plugin.test(empty), 100_000);
            AllocationAssert.assertZeroAllocation(() -> a.plugin.isend(ab.sendComm, from, 0, 0, fromHandle), 100_000);
        }
    }
}
