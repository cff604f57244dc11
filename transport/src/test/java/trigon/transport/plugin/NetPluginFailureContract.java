package trigon.transport.plugin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static trigon.transport.testsupport.Connected.finish;
import static trigon.transport.testsupport.Connected.retry;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import trigon.handshake.message.HandshakeException;
import trigon.nccl.NcclResult;
import trigon.nccl.NetPlugin;
import trigon.nccl.NoConnectionException;
import trigon.system.Memory;
import trigon.testsupport.Await;
import trigon.transport.testsupport.Connected;
import trigon.transport.testsupport.TestCluster;
import trigon.transport.testsupport.TestNode;

/**
 * What NCCL may expect of the plugin where something is wrong or ends early, over links of any kind: two nodes, a and
 * b, in one process. A subclass says what links they have.
 */
@Timeout(120)
public abstract class NetPluginFailureContract {

    static final int TAG = 7;
    static final long INVALID_ARGUMENT = -NcclResult.INVALID_ARGUMENT.code();

    TestNode a;
    TestNode b;

    /** The two nodes' entries in the cluster file, and the kind of links. */
    protected abstract TestCluster cluster(Path directory);

    /** Whether a message waits for its receive, as over RDMA; else it is done when its memory may be used again. */
    protected abstract boolean isRendezvous();

    /** How many queue pairs each end of a connection has. */
    protected int queuePairs() {
        return 1;
    }

    @BeforeEach
    void openNodes(@TempDir Path directory) {
        TestCluster cluster = cluster(directory).withPassingTime();
        a = cluster.open("a");
        b = cluster.open("b");
    }

    @AfterEach
    void nothingIsLeftOpen() {
        a.close();
        b.close();
        assertThat(a.verbs().ledger().outstanding()).isEmpty();
        assertThat(b.verbs().ledger().outstanding()).isEmpty();
    }

    @Test
    void staleAndMadeUpHandlesAreErrors() {
        Connected ab = new Connected(a, b);
        long from = a.allocate(8);
        long to = b.allocate(8);
        long fromHandle = a.register(ab.sendComm, from, 8);
        long toHandle = b.register(ab.receiveComm, to, 8);
        long receive = retry(() -> b.plugin.irecv(ab.receiveComm, to, 8, TAG, toHandle));
        long send = retry(() -> a.plugin.isend(ab.sendComm, from, 8, TAG, fromHandle));
        assertThat(finish(a, send)).isEqualTo(8);
        assertThat(finish(b, receive)).isEqualTo(8);

        assertThat(a.plugin.test(send)).isEqualTo(INVALID_ARGUMENT);
        assertThat(b.plugin.test(receive)).isEqualTo(INVALID_ARGUMENT);
        assertThat(a.plugin.test(0)).isEqualTo(INVALID_ARGUMENT);
        assertThat(a.plugin.test(1)).isEqualTo(INVALID_ARGUMENT);
        assertThat(a.plugin.test(-1)).isEqualTo(INVALID_ARGUMENT);
        assertThat(a.plugin.isend(0, from, 8, TAG, fromHandle)).isEqualTo(INVALID_ARGUMENT);
        assertThat(b.plugin.isend(ab.receiveComm, to, 8, TAG, toHandle)).isEqualTo(INVALID_ARGUMENT);
        assertThat(a.plugin.irecv(ab.sendComm, from, 8, TAG, fromHandle)).isEqualTo(INVALID_ARGUMENT);
        assertThat(b.plugin.irecv(ab.receiveComm, to, 8, TAG, 0)).isEqualTo(INVALID_ARGUMENT);
        assertThat(b.plugin.irecv(ab.receiveComm, to + 1, 8, TAG, toHandle)).isEqualTo(INVALID_ARGUMENT);
        assertThat(b.plugin.irecv(ab.receiveComm, to, (1L << 30) + 1, TAG, toHandle))
                .isEqualTo(INVALID_ARGUMENT);
        assertThatThrownBy(() -> a.plugin.registerMemory(0, from, 8, 1)).hasMessageContaining("not an open comm");
        assertThatThrownBy(() -> a.plugin.registerMemory(ab.sendComm, from, 8, 2))
                .hasMessageContaining("EOPNOTSUPP");
        assertThatThrownBy(() -> b.plugin.accept(0)).hasMessageContaining("not an open listen comm");
        a.plugin.deregisterMemory(ab.sendComm, 0);
        a.plugin.deregisterMemory(ab.sendComm, fromHandle);
        a.plugin.deregisterMemory(ab.sendComm, fromHandle);
        a.plugin.closeSend(0);
        a.plugin.closeSend(ab.sendComm);
        a.plugin.closeSend(ab.sendComm);
        assertThat(a.plugin.isend(ab.sendComm, from, 8, TAG, fromHandle)).isEqualTo(INVALID_ARGUMENT);
        assertThat(a.plugin.test(send)).isEqualTo(INVALID_ARGUMENT);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aMessageThatDoesNotFitItsReceiveFailsBothEnds(boolean tooLong) {
        Connected ab = new Connected(a, b);
        long from = a.allocate(16);
        long to = b.allocate(16);
        long fromHandle = a.register(ab.sendComm, from, 16);
        long toHandle = b.register(ab.receiveComm, to, 16);
        long receive = retry(() -> b.plugin.irecv(ab.receiveComm, to, 8, TAG, toHandle));

        int size = tooLong ? 9 : 8;
        int tag = tooLong ? TAG : TAG + 1;
        // who sees both sizes and tags says so; the other one's peer has failed
        long misused = -NcclResult.INVALID_USAGE.code();
        long failed = -NcclResult.REMOTE_ERROR.code();
        if (isRendezvous()) {
            assertThat(ab.sendUntilItFails(from, size, tag, fromHandle)).isEqualTo(misused);
            assertThat(finish(b, receive)).isEqualTo(failed);
        } else {
            long send = retry(() -> a.plugin.isend(ab.sendComm, from, size, tag, fromHandle));
            assertThat(finish(a, send)).isEqualTo(size);
            assertThat(finish(b, receive)).isEqualTo(misused);
            assertThat(ab.sendUntilItFails(from, size, tag, fromHandle)).isEqualTo(failed);
        }
    }

    @Test
    void aMessageToAReceiverThatIsGoneFailsAndSoDoesTheNext() {
        Connected ab = new Connected(a, b);
        long from = a.allocate(8);
        long to = b.allocate(8);
        long fromHandle = a.register(ab.sendComm, from, 8);
        long toHandle = b.register(ab.receiveComm, to, 8);
        retry(() -> b.plugin.irecv(ab.receiveComm, to, 8, TAG, toHandle));
        retry(() -> b.plugin.irecv(ab.receiveComm, to, 8, TAG, toHandle));
        long first = retry(() -> a.plugin.isend(ab.sendComm, from, 8, TAG, fromHandle));
        assertThat(finish(a, first)).isEqualTo(8);

        b.plugin.deregisterMemory(ab.receiveComm, toHandle);
        b.plugin.closeReceive(ab.receiveComm);

        assertThat(ab.sendUntilItFails(from, 8, TAG, fromHandle)).isEqualTo(-NcclResult.REMOTE_ERROR.code());
        assertThat(a.plugin.isend(ab.sendComm, from, 8, TAG, fromHandle)).isEqualTo(-NcclResult.REMOTE_ERROR.code());
    }

    @Test
    void aReceiverThatWaitsLearnsThatItsPeerIsGone() {
        Connected ab = new Connected(a, b);
        long to = b.allocate(8);
        long toHandle = b.register(ab.receiveComm, to, 8);
        long receive = retry(() -> b.plugin.irecv(ab.receiveComm, to, 8, TAG, toHandle));

        a.plugin.closeSend(ab.sendComm);

        assertThat(finish(b, receive)).isEqualTo(-NcclResult.REMOTE_ERROR.code());
        assertThat(b.plugin.irecv(ab.receiveComm, to, 8, TAG, toHandle)).isEqualTo(-NcclResult.REMOTE_ERROR.code());
    }

    @Test
    void aSenderThatWaitsForItsReceiverLearnsThatItIsGone() {
        Connected ab = new Connected(a, b);
        long from = a.allocate(8);
        long fromHandle = a.register(ab.sendComm, from, 8);

        b.plugin.closeReceive(ab.receiveComm);

        assertThat(ab.sendUntilItFails(from, 8, TAG, fromHandle)).isEqualTo(-NcclResult.REMOTE_ERROR.code());
    }

    @Test
    void aMessageThatArrivedCountsThoughItsSenderIsGone() throws InterruptedException {
        Connected ab = new Connected(a, b);
        long from = a.allocate(8);
        long to = b.allocate(8);
        long fromHandle = a.register(ab.sendComm, from, 8);
        long toHandle = b.register(ab.receiveComm, to, 8);
        long receive = retry(() -> b.plugin.irecv(ab.receiveComm, to, 8, TAG, toHandle));
        long send = retry(() -> a.plugin.isend(ab.sendComm, from, 8, TAG, fromHandle));
        assertThat(finish(a, send)).isEqualTo(8);

        a.plugin.closeSend(ab.sendComm);
        // longer than the time after which a peer that let go counts as gone
        b.pass(Duration.ofMillis(1500));

        assertThat(finish(b, receive)).isEqualTo(8);
    }

    @Test
    void closingWithRequestsOutstandingFreesEverything() {
        Connected ab = new Connected(a, b);
        int size = 1 << 20;
        long from = a.allocate(size);
        long to = b.allocate(size);
        long fromHandle = a.register(ab.sendComm, from, size);
        long toHandle = b.register(ab.receiveComm, to, size);
        for (int i = 0; i < 8; i++) {
            retry(() -> b.plugin.irecv(ab.receiveComm, to, size, TAG, toHandle));
        }
        for (int i = 0; i < 4; i++) {
            retry(() -> a.plugin.isend(ab.sendComm, from, size, TAG, fromHandle));
        }

        // the order of NCCL's abort: memory first
        a.plugin.deregisterMemory(ab.sendComm, fromHandle);
        b.plugin.deregisterMemory(ab.receiveComm, toHandle);
        a.plugin.closeSend(ab.sendComm);
        b.plugin.closeReceive(ab.receiveComm);
    }

    @Test
    void closingTheContextReapsWhatIsHalfOpen() {
        long handle = b.allocate(NetPlugin.HANDLE_BYTES);
        b.plugin.listen(b.context, 0, handle);
        long stranger = b.allocate(NetPlugin.HANDLE_BYTES);
        b.plugin.listen(b.context, 0, stranger);
        assertThat(a.plugin.connect(a.context, 0, handle, NetPlugin.TRAFFIC_CLASS_UNDEFINED))
                .isZero();

        a.plugin.closeContext(a.context);
        b.plugin.closeContext(b.context);

        assertThatThrownBy(() -> a.plugin.listen(a.context, 0, handle)).hasMessageContaining("not an open context");
    }

    @Test
    void aContextThatIsClosedWhileItsConnectionComesUpLeavesNothingOpen() throws InterruptedException {
        long seed = System.nanoTime();
        System.err.println("seed " + seed);
        Random random = new Random(seed);
        for (int i = 0; i < 50; i++) {
            long sending = a.plugin.openContext(i, NetPlugin.TRAFFIC_CLASS_UNDEFINED);
            long receiving = b.plugin.openContext(i, NetPlugin.TRAFFIC_CLASS_UNDEFINED);
            long handle = b.allocate(NetPlugin.HANDLE_BYTES);
            long listenComm = b.plugin.listen(receiving, 0, handle);
            Thread service =
                    Thread.ofPlatform().start(() -> connectUntilTheContextsAreGone(sending, listenComm, handle));

            Thread.sleep(random.nextInt(10)); // at any point of the connection
            a.plugin.closeContext(sending);
            b.plugin.closeContext(receiving);

            assertThat(service.join(Duration.ofSeconds(60))).isTrue();
        }
    }

    /** Ends when the listen comm is stale. What was connected is the contexts' to close. */
    private void connectUntilTheContextsAreGone(long context, long listenComm, long handle) {
        long[] comms = new long[2];
        try {
            Await.until("the end of the contexts", () -> {
                comms[0] = comms[0] != 0
                        ? comms[0]
                        : a.plugin.connect(context, 0, handle, NetPlugin.TRAFFIC_CLASS_UNDEFINED);
                comms[1] = comms[1] != 0 ? comms[1] : b.plugin.accept(listenComm);
                return comms[0] != 0 && comms[1] != 0;
            });
        } catch (IllegalArgumentException | NoConnectionException | HandshakeException e) {
            assertThat(e).as("the end of the contexts").isNotNull();
        }
    }

    @Test
    void connectingToAListenerThatIsClosedFailsWithAReason() {
        long handle = b.allocate(NetPlugin.HANDLE_BYTES);
        b.plugin.closeListen(b.plugin.listen(b.context, 0, handle));

        assertThatThrownBy(() -> Connected.connectUntilItFails(a, handle))
                .isInstanceOf(NoConnectionException.class)
                .hasMessageContaining("no connection to b")
                .hasMessageContaining("the listener rejects it");
    }

    @Test
    void aHandleThatAnotherNetworkMadeIsRefused() {
        long handle = b.allocate(NetPlugin.HANDLE_BYTES);
        Memory.fill(handle, NetPlugin.HANDLE_BYTES, (byte) 0x11);

        assertThatThrownBy(() -> Connected.connectUntilItFails(a, handle)).hasMessageContaining("NCCL_NET=Trigon");
    }
}
