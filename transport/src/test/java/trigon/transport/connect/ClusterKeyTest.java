package trigon.transport.connect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import trigon.handshake.message.ListenHandle;
import trigon.nccl.NetPlugin;
import trigon.nccl.NoConnectionException;
import trigon.transport.testsupport.Connected;
import trigon.transport.testsupport.TestCluster;
import trigon.transport.testsupport.TestNode;

/** Connections between nodes whose file names a cluster key. */
@Timeout(180)
class ClusterKeyTest {

    private static final String KEY = "one key for all the nodes of this cluster";
    private static final String OTHER_KEY = "another key, of the cluster in the next room";

    @TempDir
    @SuppressWarnings("NullAway.Init")
    Path directory;

    @Test
    void nodesWithTheSameKeyConnect() throws IOException {
        try (TestNode a = cluster("one", KEY).open("a");
                TestNode b = cluster("other", KEY).open("b")) {
            assertThat(new Connected(a, b).sendComm).isPositive();
        }
    }

    @Test
    void nodesWithDifferentKeysDoNot() throws IOException {
        try (TestNode a = cluster("one", KEY).open("a");
                TestNode b = cluster("other", OTHER_KEY).open("b")) {
            long handle = b.allocate(NetPlugin.HANDLE_BYTES);
            b.plugin.listen(b.context, 0, handle);

            assertThatThrownBy(() -> Connected.connectUntilItFails(a, handle))
                    .isInstanceOf(NoConnectionException.class)
                    .hasMessageContaining("wrong cluster: the two sides have different cluster keys")
                    .hasMessageContaining("handshake.clusterKeyFile");
        }
    }

    @Test
    void aHandleWithAnotherSecretConnectsNobody() throws IOException {
        try (TestNode a = cluster("one", KEY).open("a");
                TestNode b = cluster("other", KEY).open("b")) {
            long handle = b.allocate(NetPlugin.HANDLE_BYTES);
            long another = b.allocate(NetPlugin.HANDLE_BYTES);
            b.plugin.listen(b.context, 0, handle);
            b.plugin.listen(b.context, 0, another);
            ListenHandle one = ListenHandle.readFrom(handle);
            new ListenHandle(
                            one.connection(),
                            ListenHandle.readFrom(another).secret(),
                            one.nodeIndex(),
                            one.configFingerprint(),
                            one.links(),
                            one.linksLeftOut())
                    .writeTo(handle);

            assertThatThrownBy(() -> Connected.connectUntilItFails(a, handle))
                    .isInstanceOf(NoConnectionException.class)
                    .hasMessageContaining("the listener does not know this connection's secret");
        }
    }

    private TestCluster cluster(String name, String key) throws IOException {
        Path own = Files.createDirectory(directory.resolve(name));
        Path keyFile = Files.write(own.resolve("cluster.key"), key.getBytes(StandardCharsets.US_ASCII));
        Files.setPosixFilePermissions(keyFile, PosixFilePermissions.fromString("rw-------"));
        TestCluster cluster = TestCluster.software(own, """
                a: {nics: [{address: 127.1.12.1/24}]}
                b: {nics: [{address: 127.1.12.2/24}]}
                """);
        Files.writeString(
                cluster.file(), "handshake: {clusterKeyFile: %s}\n".formatted(keyFile), StandardOpenOption.APPEND);
        return cluster;
    }
}
