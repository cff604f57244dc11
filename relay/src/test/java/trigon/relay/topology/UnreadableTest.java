package trigon.relay.topology;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import trigon.config.cluster.ClusterKey;
import trigon.system.InterfaceAddress;

/** Announcements that come and cannot be taken. This node is a, at 10.0.12.1. */
class UnreadableTest {

    private static final InetAddress B = InetAddress.ofLiteral("10.0.12.2");
    private static final AnnouncementKey OTHER = new AnnouncementKey(
            Optional.of(new ClusterKey(Path.of("/other"), "other".repeat(7).getBytes(StandardCharsets.US_ASCII))));

    private final Topology topology = node(Simulation.clusterKey());

    private static Topology node(AnnouncementKey key) {
        return new Topology(new Origin(1, 1, "a"), List.of(link("10.0.12.1")), key, () -> 0, () -> 0);
    }

    @Test
    void thoseOfAnotherKeyAreComplainedOf() {
        assertThat(topology.nodes().complaints()).isEmpty();

        topology.received(said(2, OTHER), B, 0);

        assertThat(topology.nodes().complaints().values())
                .containsExactly("announcements from 10.0.12.2 are signed with another cluster key than this node's, or"
                        + " none; give all nodes the same key (TRIGON_CLUSTER_KEY_FILE)");
    }

    @Test
    void thisProcessMayBeTheOneWithoutAKey() {
        Topology without = node(Simulation.noKey());
        without.received(said(2, OTHER), B, 0);

        assertThat(without.nodes().complaints().values())
                .containsExactly(
                        "announcements from 10.0.12.2 are signed with a cluster key, and this process has none;"
                                + " give all nodes the same key (TRIGON_CLUSTER_KEY_FILE)");
    }

    @Test
    void thoseOfAnotherVersionAreComplainedOf() {
        ByteBuffer datagram = said(2, Simulation.clusterKey());
        datagram.put(Integer.BYTES, (byte) 99);
        topology.received(datagram, B, 0);

        assertThat(topology.nodes().complaints().values())
                .containsExactly("announcements from 10.0.12.2 are of another version of Trigon; use one build on all"
                        + " nodes");
    }

    /** Another user's job there may have a key of its own. */
    @Test
    void aNeighbourThatIsHeardAsWellIsNoneOfThem() {
        topology.received(said(2, OTHER), B, 0);
        topology.received(said(3, Simulation.clusterKey()), B, 0);

        assertThat(topology.nodes().all()).hasSize(2);
        assertThat(topology.nodes().complaints()).isEmpty();
    }

    @Test
    void nothingIsComplainedOfThatHasPassed() {
        topology.received(said(2, OTHER), B, 0);
        topology.tick(Topology.FORGOTTEN.toNanos() + 1);

        assertThat(topology.nodes().complaints()).isEmpty();
    }

    @Test
    void fewStrangersAreRemembered() {
        for (int i = 2; i < 200; i++) {
            topology.received(said(i, OTHER), InetAddress.ofLiteral("10.0.12." + i), 0);
        }

        assertThat(topology.nodes().complaints().values())
                .singleElement()
                .satisfies(text -> assertThat(text.split("10\\.0\\.12\\.")).hasSize(Unreadable.MAX_SOURCES + 1));
    }

    @Test
    void whatIsNoAnnouncementIsNoneOfThem() {
        topology.received(ByteBuffer.wrap(new byte[100]), B, 0);
        topology.received(ByteBuffer.wrap(new byte[3]), B, 0);

        assertThat(topology.nodes().complaints()).isEmpty();
    }

    private static LinkRecord link(String address) {
        return LinkRecord.silent(InterfaceAddress.parse(address + "/24"), 5000, 100);
    }

    private static ByteBuffer said(int number, AnnouncementKey key) {
        NodeRecord record = new NodeRecord(number, 1, 0, number, "n" + number, 0, 0, List.of(link("10.0.12.2")));
        return ByteBuffer.wrap(
                RecordCodec.pack(List.of(RecordCodec.seal(record, key))).getFirst());
    }
}
