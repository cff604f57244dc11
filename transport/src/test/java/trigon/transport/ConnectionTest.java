package trigon.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import trigon.config.QueuePairConfig;
import trigon.handshake.RemoteMemory;
import trigon.verbs.ConnectionKey;
import trigon.verbs.LinkKind;

@Timeout(180)
class ConnectionTest {

    private static final long MIB = 1L << 20;

    private final ConnectionFactory factory =
            new ConnectionFactory(QueuePairConfig.DEFAULT, new Random(1), Runnable::run, Runnable::run);

    @Test
    void aSendQueueTakesTheLongestMessageWhateverThePeersPortCarries() {
        for (long own : new long[] {8 * MIB, 64 * MIB, 1L << 30, 1L << 31}) {
            int depth = RendezvousSendComm.sendQueueDepth(own);

            assertThat(RendezvousSendComm.fits(depth, own)).isTrue();
            assertThat(RendezvousSendComm.fits(depth, 8 * MIB)).isTrue();
        }
    }

    @Test
    void refusesAPeerToWhichALongMessageCouldNeverBeSent(@TempDir Path directory) {
        TestCluster cluster = TestCluster.software(directory, """
                a: {nics: [{address: 127.1.12.1/24}]}
                """);
        try (TestNode a = cluster.open("a");
                Links links = Links.open(a.links, Map.of(LinkKind.SOFTWARE, a.verbs()), TestNode.PAGE_BYTES);
                Connection connection =
                        factory.open(links.all().getFirst(), Connection.Role.SENDER, MessageProtocol.EAGER)) {
            assertThatThrownBy(() -> factory.connect(
                            connection,
                            connection.endpoint(),
                            ConnectionKey.of(new byte[ConnectionKey.BYTES]),
                            RemoteMemory.NONE,
                            1,
                            NetPlugin.TRAFFIC_CLASS_UNDEFINED))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("1 bytes");
        }
    }
}
