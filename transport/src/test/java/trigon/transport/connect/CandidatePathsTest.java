package trigon.transport.connect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import trigon.config.HandshakeConfig;
import trigon.handshake.connect.HandshakeClient;
import trigon.handshake.lifeline.HandshakeEventLoop;
import trigon.handshake.message.EndFailure;
import trigon.handshake.message.LinkAddress;
import trigon.handshake.message.ListenHandle;
import trigon.nccl.NetPlugin;
import trigon.nccl.NoConnectionException;
import trigon.routing.table.NoPathException;
import trigon.testsupport.Await;
import trigon.transport.testsupport.Connected;
import trigon.transport.testsupport.TestCluster;
import trigon.transport.testsupport.TestNode;

/** Two nodes with two cables on one subnet: the handshake over a cable is what tells whether it works. */
@Timeout(180)
class CandidatePathsTest {

    /** Nobody listens there. */
    private static final int DEAD_PORT = 1;

    private TestNode a;
    private TestNode b;
    private TestNode stranger;

    @BeforeEach
    void openNodes(@TempDir Path directory) {
        TestCluster cluster = TestCluster.software(directory, """
                a: {nics: [{address: 127.1.12.1/24}, {address: 127.1.12.11/24}]}
                b: {nics: [{address: 127.1.12.2/24}, {address: 127.1.12.12/24}]}
                stranger: {nics: [{address: 127.1.99.9/24}]}
                """);
        a = cluster.open("a");
        b = cluster.open("b");
        stranger = cluster.open("stranger");
    }

    @AfterEach
    void nothingIsLeftOpen() {
        for (TestNode node : new TestNode[] {a, b, stranger}) {
            node.close();
            assertThat(node.verbs().ledger().outstanding()).isEmpty();
        }
    }

    @Test
    void theNextPathIsTakenWhereTheFirstFails() {
        long handle = b.allocate(NetPlugin.HANDLE_BYTES);
        long listenComm = b.plugin.listen(b.context, 0, handle);
        killFirst(handle, 1);

        long[] comms = new long[2];
        Await.until("the connection over the second path", () -> {
            comms[0] = comms[0] != 0
                    ? comms[0]
                    : a.plugin.connect(a.context, 0, handle, NetPlugin.TRAFFIC_CLASS_UNDEFINED);
            comms[1] = comms[1] != 0 ? comms[1] : b.plugin.accept(listenComm);
            return comms[0] != 0 && comms[1] != 0;
        });
    }

    @Test
    void whereAllPathsFailTheErrorTellsWhyEachDid() {
        long handle = b.allocate(NetPlugin.HANDLE_BYTES);
        b.plugin.listen(b.context, 0, handle);
        killFirst(handle, 2);

        assertThatThrownBy(() -> Connected.connectUntilItFails(a, handle))
                .isInstanceOf(NoConnectionException.class)
                .hasMessageContaining("all of its 4 paths failed")
                .hasMessageContaining("127.1.12.2:" + DEAD_PORT)
                .hasMessageContaining("127.1.12.12:" + DEAD_PORT);
    }

    @Test
    void withoutAnyPathTheErrorNamesTheAddressesOfBothEnds() {
        long handle = b.allocate(NetPlugin.HANDLE_BYTES);
        b.plugin.listen(b.context, 0, handle);

        assertThatThrownBy(() -> Connected.connectUntilItFails(stranger, handle))
                .isInstanceOf(NoPathException.class)
                .hasMessageContaining("127.1.99.9/24")
                .hasMessageContaining("127.1.12.2/24")
                .hasMessageContaining("127.1.12.12/24");
    }

    @Test
    void whoWaitsInAcceptHearsThatThePeerHasGivenUp() {
        long handle = b.allocate(NetPlugin.HANDLE_BYTES);
        long listenComm = b.plugin.listen(b.context, 0, handle);
        ListenHandle known = ListenHandle.readFrom(handle);
        HandshakeEventLoop loop = HandshakeEventLoop.open();
        try {
            HandshakeClient client = new HandshakeClient(loop, HandshakeConfig.DEFAULT);
            client.resign(
                            a.links.getFirst().address().address(),
                            new InetSocketAddress(
                                    known.links().getFirst().address(),
                                    known.links().getFirst().port()),
                            known.secret(),
                            known.connection(),
                            new EndFailure(EndFailure.Scope.CONNECTION, "no path works"))
                    .join();
        } finally {
            loop.close();
        }

        assertThatThrownBy(() -> acceptUntilItFails(b, listenComm))
                .isInstanceOf(NoConnectionException.class)
                .hasMessageContaining("127.1.12.1 has closed the connection: no path works");
    }

    /** Puts a port where nobody listens into the first links of a handle. */
    private static void killFirst(long handleAddress, int count) {
        ListenHandle handle = ListenHandle.readFrom(handleAddress);
        List<LinkAddress> links = new ArrayList<>(handle.links());
        for (int i = 0; i < count; i++) {
            LinkAddress link = links.get(i);
            links.set(i, new LinkAddress(link.address(), link.prefixLength(), DEAD_PORT, link.kinds()));
        }
        new ListenHandle(
                        handle.connection(),
                        handle.secret(),
                        handle.nodeIndex(),
                        handle.configFingerprint(),
                        links,
                        handle.linksLeftOut())
                .writeTo(handleAddress);
    }

    private static void acceptUntilItFails(TestNode node, long listenComm) {
        Await.until("the failure", () -> node.plugin.accept(listenComm) != 0);
    }
}
