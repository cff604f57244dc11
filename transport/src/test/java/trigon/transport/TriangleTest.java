package trigon.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import trigon.system.Memory;
import trigon.transport.testsupport.Connected;
import trigon.transport.testsupport.TestCluster;
import trigon.transport.testsupport.TestNode;

/** Three nodes, each cable a subnet of its own, in all orders of listing the NICs. */
@Timeout(180)
class TriangleTest {

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3, 4, 5, 6, 7})
    void everyNodeReachesEveryOtherOverTheirOwnCable(int order, @TempDir Path directory) {
        TestCluster cluster = TestCluster.software(
                directory,
                node("a", "127.1.12.1/24", "127.1.13.1/24", order & 1)
                        + node("b", "127.1.12.2/24", "127.1.23.2/24", order & 2)
                        + node("c", "127.1.13.3/24", "127.1.23.3/24", order & 4));
        try (TestNode a = cluster.open("a");
                TestNode b = cluster.open("b");
                TestNode c = cluster.open("c")) {
            TestNode[] nodes = {a, b, c};
            for (TestNode from : nodes) {
                for (TestNode to : nodes) {
                    if (from != to) {
                        sendOne(new Connected(from, to));
                    }
                }
            }
            for (TestNode node : nodes) {
                node.plugin.closeContext(node.context);
            }
        }
    }

    private static void sendOne(Connected connected) {
        long from = connected.sender.allocate(8);
        long to = connected.receiver.allocate(8);
        Memory.putLong(from, 0x0123_4567_89AB_CDEFL);
        long fromHandle = connected.sender.register(connected.sendComm, from, 8);
        long toHandle = connected.receiver.register(connected.receiveComm, to, 8);
        long receive =
                Connected.retry(() -> connected.receiver.plugin.irecv(connected.receiveComm, to, 8, 0, toHandle));
        long send = Connected.retry(() -> connected.sender.plugin.isend(connected.sendComm, from, 8, 0, fromHandle));
        assertThat(Connected.finish(connected.sender, send)).isEqualTo(8);
        assertThat(Connected.finish(connected.receiver, receive)).isEqualTo(8);
        assertThat(Memory.getLong(to)).isEqualTo(0x0123_4567_89AB_CDEFL);
    }

    private static String node(String name, String first, String second, int swapped) {
        return swapped == 0
                ? "%s: {nics: [{address: %s}, {address: %s}]}%n".formatted(name, first, second)
                : "%s: {nics: [{address: %s}, {address: %s}]}%n".formatted(name, second, first);
    }
}
