package trigon.relay.mesh;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.channels.SelectableChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import trigon.config.PluginConfig;
import trigon.config.file.ConfigLoader;
import trigon.relay.Relay;
import trigon.relay.topology.announce.Announcer;
import trigon.routing.LocalLink;
import trigon.routing.PeerLink;
import trigon.stream.hop.HopDevices;
import trigon.system.InterfaceAddress;
import trigon.testsupport.Await;
import trigon.verbs.Gid;
import trigon.verbs.LinkKind;

/** Node a of the cluster's file, on loopback addresses, where b hears what a announces by unicast. */
@Timeout(120)
class MeshTest {

    private static final InterfaceAddress A = InterfaceAddress.parse("127.0.112.1/24");
    private static final InetAddress B = InetAddress.ofLiteral("127.0.112.2");

    /** Of a datagram with one record: before the record are 8 bytes and its length in 2, before the count a number. */
    private static final int COUNT_AT = 8 + Short.BYTES + Long.BYTES;

    @TempDir
    Path directory;

    /** The first announcement says that it is the first. */
    @Test
    void nothingIsAnnouncedUntilAWayIsLookedFor() throws Exception {
        try (DatagramSocket b = new DatagramSocket(new InetSocketAddress(B, 0));
                Mesh mesh = open("on", b.getLocalPort()).orElseThrow()) {
            assertThat(mesh.nodes().all()).hasSize(1);

            InetAddress c = InetAddress.ofLiteral("127.0.123.3");
            assertThat(mesh.pathsTo("c", List.of(new PeerLink(c, 24, 1, Set.of(LinkKind.SOFTWARE))), 0))
                    .isEmpty();
            b.setSoTimeout((int) Await.DEADLINE.toMillis());
            DatagramPacket said = new DatagramPacket(new byte[4096], 4096);
            b.receive(said);
            assertThat(said.getAddress()).isEqualTo(A.address());
            assertThat(ByteBuffer.wrap(said.getData()).getLong(COUNT_AT)).isEqualTo(1);
        }
    }

    /** Another thread looks at what it listens on, and has them made. */
    @Test
    void noThreadIsThereBeforeOneIsNeeded() throws Exception {
        List<SelectableChannel> looked = new ArrayList<>();
        List<Runnable> tasks = new ArrayList<>();
        try (DatagramSocket b = new DatagramSocket(new InetSocketAddress(B, 0));
                Mesh mesh = open("on", b.getLocalPort()).orElseThrow()) {
            mesh.serveWhenCalled((channel, task) -> {
                looked.add(channel);
                tasks.add(task);
            });
            assertThat(looked)
                    .hasAtLeastOneElementOfType(ServerSocketChannel.class)
                    .hasAtLeastOneElementOfType(DatagramChannel.class);
            assertThat(threads()).isEmpty();

            for (int i = 0; i < looked.size(); i++) {
                if (looked.get(i) instanceof ServerSocketChannel) {
                    tasks.get(i).run(); // somebody connects
                }
            }
            assertThat(threads()).containsExactly(Relay.THREAD_NAME);
            tasks.forEach(Runnable::run);
            tasks.forEach(Runnable::run);
            assertThat(threads()).containsExactlyInAnyOrder(Relay.THREAD_NAME, Announcer.THREAD_NAME);
        }
        assertThat(threads()).isEmpty();
    }

    @Test
    void whoNeedsAWayHasAThreadThatLooksForIt() throws Exception {
        try (DatagramSocket b = new DatagramSocket(new InetSocketAddress(B, 0));
                Mesh mesh = open("on", b.getLocalPort()).orElseThrow()) {
            mesh.serveWhenCalled((_, _) -> {});
            InetAddress c = InetAddress.ofLiteral("127.0.123.3");

            mesh.pathsTo("c", List.of(new PeerLink(c, 24, 1, Set.of(LinkKind.SOFTWARE))), 0);

            assertThat(threads()).containsExactly(Announcer.THREAD_NAME);
        }
    }

    private static List<String> threads() {
        Set<String> names = Set.of(Relay.THREAD_NAME, Announcer.THREAD_NAME);
        return Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(names::contains)
                .toList();
    }

    @Test
    void offIsOff() throws Exception {
        try (DatagramSocket free = new DatagramSocket(new InetSocketAddress(B, 0))) {
            assertThat(open("off", free.getLocalPort())).isEmpty();
        }
    }

    private Optional<Mesh> open(String relay, int port) throws Exception {
        Path file = Files.writeString(directory.resolve("trigon.yaml"), """
            version: 1
            links: software
            relay: %s
            topology: {port: %d}
            nodes:
              a: {nics: [{address: 127.0.112.1/24}]}
              b: {nics: [{address: 127.0.112.2/24}]}
            """.formatted(relay, port));
        PluginConfig config =
                ConfigLoader.load(Map.of("TRIGON_CONFIG", file.toString(), "TRIGON_NODE", "a"), "machine");
        LocalLink link = new LocalLink("lo", LinkKind.SOFTWARE, "lo", 1, A, 0, Gid.of(A.address()), 1000, "lo", 1, 0);
        return Mesh.open(
                config,
                List.of(link),
                _ -> Optional.empty(),
                "a",
                1,
                new RelayResources(new HopDevices(List.of(), 0), false, 0));
    }
}
