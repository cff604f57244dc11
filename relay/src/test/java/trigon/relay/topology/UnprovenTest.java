package trigon.relay.topology;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.List;
import org.junit.jupiter.api.Test;
import trigon.system.InterfaceAddress;

/**
 * Announcements of nodes without a cluster key. This node, a, has a cable to b and one to d; c is behind both, at
 * 10.0.23.3.
 */
class UnprovenTest {

    private static final InetAddress B = InetAddress.ofLiteral("10.0.12.2");
    private static final InetAddress D = InetAddress.ofLiteral("10.0.14.4");
    private static final InetAddress C = InetAddress.ofLiteral("10.0.23.3");

    private final Topology topology = node(Simulation.noKey());

    private static Topology node(AnnouncementKey key) {
        return new Topology(
                new Origin(1, 1, "a"),
                List.of(link("10.0.12.1", 5000, 100), link("10.0.14.1", 5000, 100)),
                key,
                () -> 0,
                () -> 0);
    }

    /** A relay between this node and the other end is known by what it says itself. */
    @Test
    void aNeighbourRelays() {
        say(ofB(), B);

        List<Route> routes = Simulation.routes(topology.nodes(), C);
        assertThat(routes).extracting(Route::names).containsExactly(List.of("b"));
        assertThat(routes.getFirst().local()).isEqualTo(InetAddress.ofLiteral("10.0.12.1"));
    }

    @Test
    void nothingIsPassedOn() {
        say(ofB(), B);
        assertThat(topology.hasWaiting()).isFalse();

        Simulation line = new Simulation(4, Simulation.line(4), 0, 1, Simulation.noKey());
        line.runUntil(4000);
        assertThat(line.nodes).allSatisfy(each -> assertThat(each.nodes().all()).hasSizeLessThan(4));
        assertThat(line.nodes.getFirst().nodes().all()).extracting(Node::name).containsExactly("n0", "n1");
    }

    /** A node speaks for itself alone, and has not so many. */
    @Test
    void ofOneAddressFewProcessesAreRemembered() {
        for (int process = 2; process < 1000; process++) {
            say(record(process, "b" + process, heard("10.0.12.2", "10.0.12.1")), B);
        }

        assertThat(topology.nodes().all()).hasSize(Limits.MAX_UNPROVEN_OF_SOURCE + 1);
        assertThat(topology.overLimitToTell()).contains(B);
    }

    @Test
    void whatOneSaysOfAnotherIsNotTaken() {
        NodeRecord ofC = record(3, "c", heard("10.0.23.3", "10.0.23.2"));
        say(ofC, B);

        assertThat(topology.nodes().all()).hasSize(1);
        assertThat(topology.refused()).isPositive();
    }

    /** A stranger on one cable says that it is b, with a route to c over the cable on which b is. */
    @Test
    void wordsFromOneLinkChangeNothingOnAnother() {
        say(ofB(), B);
        List<Route> before = Simulation.routes(topology.nodes(), C);
        NodeRecord forged = new NodeRecord(
                2, // b's process, and a newer record
                1_000_000,
                0,
                2,
                "b",
                0,
                List.of(
                        heard("10.0.14.4", "10.0.14.1"),
                        new LinkRecord(
                                InterfaceAddress.parse("10.0.12.7/24"),
                                666,
                                1_000_000,
                                true,
                                List.of(InetAddress.ofLiteral("10.0.12.1"), C),
                                false)));
        say(forged, D);

        assertThat(Simulation.routes(topology.nodes(), C)).isEqualTo(before);
        assertThat(topology.nodes().at(InetAddress.ofLiteral("10.0.12.7"))).isEmpty();
        say(record(2, "b", heard("10.0.12.2", "10.0.12.1")), B); // its next word counts still
        assertThat(Simulation.routes(topology.nodes(), C)).isEmpty();
    }

    @Test
    void twoCablesToANodeAreTwoWays() {
        NodeRecord both = record(
                2,
                "b",
                heard("10.0.12.2", "10.0.12.1"),
                heard("10.0.14.4", "10.0.14.1"),
                heard("10.0.23.2", "10.0.23.3"));
        say(both, B);
        say(both, D);

        assertThat(Simulation.routes(topology.nodes(), C))
                .extracting(Route::local)
                .containsExactlyInAnyOrder(InetAddress.ofLiteral("10.0.12.1"), InetAddress.ofLiteral("10.0.14.1"));
    }

    /** A key is the stronger word: whoever has one takes nothing from who has none. */
    @Test
    void provenOnesAreNeverDisplaced() {
        AnnouncementKey key = Simulation.clusterKey();
        Topology withKey = node(key);
        for (byte[] datagram : RecordCodec.pack(List.of(RecordCodec.seal(ofB(), key)))) {
            withKey.received(ByteBuffer.wrap(datagram), B, 0);
        }
        Nodes before = withKey.nodes();
        NodeRecord newer = new NodeRecord(2, 1000, 0, 2, "b", 0, List.of(heard("10.0.12.2", "10.0.12.1")));
        for (byte[] datagram : RecordCodec.pack(List.of(RecordCodec.seal(newer, Simulation.noKey())))) {
            withKey.received(ByteBuffer.wrap(datagram), B, 0);
        }

        assertThat(withKey.nodes()).isSameAs(before);
        assertThat(withKey.hasWaiting()).as("the proven one is passed on").isTrue();
    }

    @Test
    void whatIsSaidOfTheShapeClaimsNoMoreThanIsKnown() {
        say(ofB(), B);
        say(record(4, "d", heard("10.0.14.4", "10.0.14.1")), D);

        assertThat(Shape.describe(topology.nodes()))
                .isEqualTo("neighbours of a: b, d; nodes behind them are known once the job has a key,"
                        + " or by the cluster's (TRIGON_CLUSTER_KEY_FILE)");
        assertThat(NodeOrder.advice(topology.nodes())).contains("once the job has a key");
    }

    private static NodeRecord ofB() {
        return record(2, "b", heard("10.0.12.2", "10.0.12.1"), heard("10.0.23.2", "10.0.23.3"));
    }

    private long sequence;

    private void say(NodeRecord record, InetAddress source) {
        NodeRecord next = record.sequence() > 0
                ? record
                : new NodeRecord(record.instance(), ++sequence, 0, record.node(), record.name(), 0, record.links());
        for (byte[] datagram : RecordCodec.pack(List.of(RecordCodec.seal(next, Simulation.noKey())))) {
            topology.received(ByteBuffer.wrap(datagram), source, 0);
        }
    }

    private static NodeRecord record(long number, String name, LinkRecord... links) {
        return new NodeRecord(number, 0, 0, number, name, 0, List.of(links));
    }

    private static LinkRecord heard(String address, String other) {
        return new LinkRecord(
                InterfaceAddress.parse(address + "/24"),
                5000,
                100,
                false,
                List.of(InetAddress.ofLiteral(other)),
                false);
    }

    private static LinkRecord link(String address, int port, int mbps) {
        return LinkRecord.silent(InterfaceAddress.parse(address + "/24"), port, mbps);
    }
}
