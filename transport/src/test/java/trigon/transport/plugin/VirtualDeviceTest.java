package trigon.transport.plugin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import trigon.nccl.DeviceProperties;
import trigon.nccl.NcclResult;
import trigon.transport.testsupport.Connected;
import trigon.transport.testsupport.TestCluster;
import trigon.transport.testsupport.TestNode;

/** NCCL sees one device, the same on all nodes, and connections over it share the cables to their peer. */
@Timeout(180)
class VirtualDeviceTest {

    private static final int TAG = 1;

    private static final String TWO_CABLES = """
            a: {nics: [{address: 127.1.12.1/24}, {address: 127.2.12.1/24}]}
            b: {nics: [{address: 127.1.12.2/24}, {address: 127.2.12.2/24}]}
            """;

    @Test
    void unlikeNodesTellNcclTheSame(@TempDir Path directory) {
        TestCluster cluster = TestCluster.software(directory, """
                a: {nics: [{address: 127.1.12.1/24, speedMbps: 1000}]}
                b: {nics: [{address: 127.1.12.2/24}, {address: 127.1.23.2/24}, {address: 127.1.24.2/24}]}
                """);
        try (TestNode a = cluster.open("a");
                TestNode b = cluster.open("b");
                TestNode rdma = TestNode.onRdmaLinks("c", "127.1.34.1/24")) {
            DeviceProperties expected = a.plugin.properties(0);
            for (TestNode node : List.of(a, b, rdma)) {
                assertThat(node.plugin.devices()).isEqualTo(1);
                assertThat(node.plugin.properties(0))
                        .usingRecursiveComparison()
                        .ignoringFields("guid") // which node it is
                        .isEqualTo(expected);
            }
            assertThat(b.plugin.properties(0).guid()).isNotEqualTo(expected.guid());
            assertThatThrownBy(() -> a.plugin.properties(1)).hasMessageContaining("Trigon's are 0 to 0");
        }
    }

    /** Two channels of 2.4 GB/s at least, of which NCCL makes four, and not so much that it wants several a peer. */
    @Test
    void ncclMakesFourChannelsAndOneForEachPeer(@TempDir Path directory) {
        try (TestNode a = TestCluster.software(directory, TWO_CABLES).open("a")) {
            assertThat(a.plugin.properties(0).speedMbps() / 8000.0).isBetween(2 * 2.4, 5.0);
            assertThat(a.plugin.properties(0).latencyMicros()).isZero();
        }
    }

    @Test
    void theConnectionsToAPeerTakeEachOfTwoEqualCablesInTurn(@TempDir Path directory) {
        TestCluster cluster = TestCluster.software(directory, TWO_CABLES);
        try (TestNode a = cluster.open("a");
                TestNode b = cluster.open("b")) {
            Connected first = new Connected(a, b);
            Connected second = new Connected(a, b);
            Connected third = new Connected(a, b);
            Connected fourth = new Connected(a, b);

            assertThat(shareALink(a, first, third)).isTrue();
            assertThat(shareALink(a, second, fourth)).isTrue();
            assertThat(shareALink(a, first, second)).isFalse();
        }
    }

    @Test
    void allConnectionsTakeTheFasterOfUnequalCables(@TempDir Path directory) {
        TestCluster cluster = TestCluster.software(directory, """
                a: {nics: [{address: 127.1.12.1/24, speedMbps: 10000}, {address: 127.2.12.1/24, speedMbps: 1000}]}
                b: {nics: [{address: 127.1.12.2/24, speedMbps: 10000}, {address: 127.2.12.2/24, speedMbps: 1000}]}
                """);
        try (TestNode a = cluster.open("a");
                TestNode b = cluster.open("b")) {
            assertThat(shareALink(a, new Connected(a, b), new Connected(a, b))).isTrue();
        }
    }

    @Test
    void aCableToAnotherPeerIsNotTaken(@TempDir Path directory) {
        TestCluster cluster = TestCluster.software(directory, """
                a: {nics: [{address: 127.1.12.1/24}, {address: 127.1.13.1/24}]}
                b: {nics: [{address: 127.1.12.2/24}]}
                """);
        try (TestNode a = cluster.open("a");
                TestNode b = cluster.open("b")) {
            assertThat(shareALink(a, new Connected(a, b), new Connected(a, b))).isTrue();
        }
    }

    /** Memory is registered with a link: it serves all connections over that one, and no others. */
    private static boolean shareALink(TestNode sender, Connected one, Connected other) {
        long from = sender.allocate(8);
        long memory = sender.register(one.sendComm, from, 8);
        long answer = sender.plugin.isend(other.sendComm, from, 8, TAG, memory);
        return answer != -NcclResult.INVALID_ARGUMENT.code();
    }
}
