package trigon.relay.topology;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TopologyTest {

    private static final long SEED = 42;

    @ParameterizedTest
    @CsvSource({
        "ring, 3",
        "ring, 4",
        "ring, 8",
        "ring, 32",
        "line, 4",
        "line, 16",
        "star, 4",
        "star, 16",
        "mesh, 4",
        "mesh, 8",
        "switch, 3",
        "switch, 64"
    })
    void everybodyKnowsEverybodyWithin3Seconds(String shape, int count) {
        Simulation net = new Simulation(count, joined(shape, count), 0, SEED, Simulation.clusterKey());
        net.runUntil(3000);

        Shape expected = expected(shape, count);
        for (Topology node : net.nodes) {
            assertThat(node.nodes().all()).hasSize(count);
        }
        assertThat(Shape.of(net.nodes.getFirst().nodes())).isEqualTo(expected);
        assertThat(Shape.of(net.nodes.getLast().nodes())).isEqualTo(expected);

        long before = net.bytes;
        net.runUntil(5000);
        long each = (net.bytes - before) / 2 / count;
        System.err.printf("%s of %d: each node sends %d bytes/s%n", shape, count, each);
        assertThat(each).isLessThan(500L * count * degree(shape, count) + 500);
    }

    /** The widest there is: 256 nodes, the last heard of over 128 others. */
    @Test
    @Tag("long")
    void aRingOf256NodesIsKnownWithin3Seconds() {
        Simulation net = new Simulation(256, Simulation.ring(256), 0, SEED, Simulation.clusterKey());
        net.runUntil(3000);
        assertThat(net.nodes).allSatisfy(node -> assertThat(node.nodes().all()).hasSize(256));
    }

    private static int degree(String shape, int count) {
        return switch (shape) {
            case "mesh" -> count * 2;
            default -> 4;
        };
    }

    private static List<int[]> joined(String shape, int count) {
        return switch (shape) {
            case "ring" -> Simulation.ring(count);
            case "line" -> Simulation.line(count);
            case "star" -> Simulation.star(count);
            case "mesh" -> Simulation.mesh(count);
            default -> Simulation.switched(count);
        };
    }

    private static Shape expected(String shape, int count) {
        return switch (shape) {
            case "ring" -> count == 3 ? Shape.FULL_MESH : Shape.RING;
            case "line" -> Shape.LINE;
            case "star" -> Shape.STAR;
            default -> Shape.FULL_MESH;
        };
    }

    @Test
    void aCutCableAndALostNodeAreForgotten() {
        Simulation net = new Simulation(4, Simulation.ring(4), 0, SEED, Simulation.clusterKey());
        net.runUntil(4000);
        assertThat(Shape.describe(net.nodes.get(1).nodes())).isEqualTo("ring of 4 nodes: n0-n1, n0-n3, n1-n2, n2-n3");

        net.cut(0, 1);
        net.runUntil(11_000);
        assertThat(Shape.describe(net.nodes.get(1).nodes())).isEqualTo("line of 4 nodes: n0-n3, n1-n2, n2-n3");

        net.cut(0, 3);
        net.runUntil(20_000);
        assertThat(net.nodes.get(1).nodes().all()).hasSize(3);
        assertThat(net.nodes.get(0).nodes().all()).hasSize(1);

        net.mend(0, 3);
        net.mend(0, 1);
        net.runUntil(24_000);
        assertThat(Shape.of(net.nodes.get(2).nodes())).isEqualTo(Shape.RING);
    }

    @Test
    void survivesLoss() {
        Simulation net = new Simulation(8, Simulation.ring(8), 0.2, SEED, Simulation.clusterKey());
        net.runUntil(60_000);
        int complete = 0;
        for (int second = 60; second < 80; second++) {
            net.runUntil(second * 1000L);
            complete += Shape.of(net.nodes.get(second % 8).nodes()) == Shape.RING ? 1 : 0;
        }
        assertThat(complete).isGreaterThanOrEqualTo(19);
    }

    @Test
    void garbageFloodsReplayAndForgeryHaveNoEffect() {
        AnnouncementKey key = Simulation.clusterKey();
        Simulation net = new Simulation(4, Simulation.ring(4), 0, SEED, key);
        net.runUntil(4000);
        String right = Shape.describe(net.nodes.getFirst().nodes());
        InetAddress neighbour = net.address(1, 0).address();
        NodeRecord forged = new NodeRecord(
                1001, 1 << 30, 4, 1, "n1", 0, List.of(LinkRecord.silent(net.address(1, 0), 666, 1_000_000)));
        byte[] forgery = RecordCodec.pack(List.of(RecordCodec.seal(forged, Simulation.noKey())))
                .getFirst();
        NodeRecord old =
                new NodeRecord(77, 1, -10_000, 77, "gone", 0, List.of(LinkRecord.silent(net.address(1, 0), 666, 1)));
        byte[] replay = RecordCodec.pack(List.of(RecordCodec.seal(old, key))).getFirst();
        Random random = new Random(SEED);
        for (int i = 0; i < 100_000; i++) {
            byte[] garbage = new byte[random.nextInt(200)];
            random.nextBytes(garbage);
            net.inject(0, i % 2 == 0 ? neighbour : Simulation.address(1, 2, 3, 4), garbage);
            if (i % 1000 == 0) {
                net.inject(0, neighbour, forgery);
                net.inject(0, neighbour, replay);
                byte[] damaged = forgery.clone();
                damaged[random.nextInt(damaged.length)]++;
                net.inject(0, neighbour, damaged);
            }
        }
        net.runUntil(8000);

        assertThat(Shape.describe(net.nodes.getFirst().nodes())).isEqualTo(right);
        assertThat(net.nodes.getFirst().nodes().all().stream()
                        .flatMap(node -> node.links().stream())
                        .flatMap(link -> link.relays().stream()))
                .allMatch(relay -> relay.port() == 5000);
        assertThat(net.nodes.getFirst().refused()).isGreaterThanOrEqualTo(100_000);
        assertThat(net.nodes.getFirst().otherClocks()).isPositive();
    }

    @Test
    void whatHasEndedIsNotBroughtBackByItsOldWords() {
        Topology topology = new Topology(
                new Origin(1, 1, "a"),
                List.of(LinkRecord.silent(link("10.0.12.1"), 0, 1)),
                Simulation.clusterKey(),
                () -> 0,
                () -> 0);
        byte[] said = announcement(2, 5);
        topology.received(ByteBuffer.wrap(said), InetAddress.ofLiteral("10.0.12.2"), 0);
        assertThat(topology.nodes().all()).hasSize(2);
        topology.tick(6_000_000_000L);
        assertThat(topology.nodes().all()).hasSize(1);

        topology.received(ByteBuffer.wrap(said), InetAddress.ofLiteral("10.0.12.2"), 6_000_000_001L);
        assertThat(topology.nodes().all()).hasSize(1);
        topology.received(ByteBuffer.wrap(announcement(2, 6)), InetAddress.ofLiteral("10.0.12.2"), 6_000_000_002L);
        assertThat(topology.nodes().all()).hasSize(2);
    }

    @Test
    void aFloodOfProcessesIsBounded() {
        Topology topology = new Topology(
                new Origin(1, 1, "a"),
                List.of(LinkRecord.silent(link("10.0.12.1"), 0, 1)),
                Simulation.clusterKey(),
                () -> 0,
                () -> 0);
        for (int i = 2; i < 20_000; i++) {
            topology.received(ByteBuffer.wrap(announcement(i, 1)), InetAddress.ofLiteral("10.0.12.2"), 0);
        }
        assertThat(topology.nodes().all()).hasSizeLessThanOrEqualTo(Limits.MAX_RECORDS / 2 + 1);
    }

    /** The copy on the second cable always comes second, and there is one of a record's passing on. */
    @Test
    void ofTwoCablesToANodeBothAreHeard() {
        List<LinkRecord> own =
                List.of(LinkRecord.silent(link("10.0.12.1"), 0, 1), LinkRecord.silent(link("10.0.13.1"), 0, 1));
        Topology topology = new Topology(new Origin(1, 1, "a"), own, Simulation.clusterKey(), () -> 0, () -> 0);
        List<LinkRecord> others =
                List.of(LinkRecord.silent(link("10.0.12.2"), 0, 1), LinkRecord.silent(link("10.0.13.2"), 0, 1));
        for (int sequence = 1; sequence < 20; sequence++) {
            NodeRecord record = new NodeRecord(2, sequence, 0, 2, "b", 0, others);
            byte[] said = RecordCodec.pack(List.of(RecordCodec.seal(record, Simulation.clusterKey())))
                    .getFirst();
            for (String source : List.of("10.0.12.2", "10.0.13.2", "10.0.13.9")) {
                topology.received(ByteBuffer.wrap(said), InetAddress.ofLiteral(source), sequence * 1_000_000_000L);
            }
            topology.tick(sequence * 1_000_000_000L);
        }

        List<LinkRecord> links = topology.records().getFirst().links();
        assertThat(links.getFirst().neighbours()).containsExactly(InetAddress.ofLiteral("10.0.12.2"));
        assertThat(links.getLast().neighbours()).containsExactly(InetAddress.ofLiteral("10.0.13.2"));
    }

    @Test
    void aNodeWithAnotherClockIsToldOfOnce() {
        Topology topology = thatItIs1000(Simulation.clusterKey());
        InetAddress source = InetAddress.ofLiteral("10.0.12.2");
        topology.received(said(2, 1000 + 600, Simulation.clusterKey()), source, 0);
        assertThat(topology.otherClocksToTell()).isEmpty();

        topology.received(said(3, 1000 + 601, Simulation.clusterKey()), source, 0);
        topology.received(said(3, 1000 + 602, Simulation.clusterKey()), source, 0);
        topology.received(said(4, 0, Simulation.clusterKey()), source, 0);
        assertThat(topology.otherClocksToTell())
                .containsExactly(new Topology.OtherClock("n3", 601), new Topology.OtherClock("n4", -1000));
        topology.received(said(3, 1000 + 603, Simulation.clusterKey()), source, 0);
        assertThat(topology.otherClocksToTell()).isEmpty();
        assertThat(topology.otherClocks()).isEqualTo(4);

        for (int node = 5; node < 1000; node++) {
            topology.received(said(node, 1_000_000, Simulation.clusterKey()), source, 0);
        }
        assertThat(topology.otherClocksToTell()).hasSize(Topology.MAX_OTHER_CLOCKS - 2);
    }

    /** Anybody can have made up any number of them. */
    @Test
    void withoutAKeyOneNodeWithAnotherClockIsToldOf() {
        Topology topology = thatItIs1000(Simulation.noKey());
        for (int node = 2; node < 1000; node++) {
            topology.received(said(node, 1_000_000, Simulation.noKey()), InetAddress.ofLiteral("10.0.12.2"), 0);
        }

        assertThat(topology.otherClocksToTell()).hasSize(1);
        assertThat(topology.otherClocks()).isEqualTo(998);
    }

    private static Topology thatItIs1000(AnnouncementKey key) {
        List<LinkRecord> links = List.of(LinkRecord.silent(link("10.0.12.1"), 0, 1));
        return new Topology(new Origin(1, 1, "a"), links, key, () -> 1000, () -> 0);
    }

    private static ByteBuffer said(long node, long epochSeconds, AnnouncementKey key) {
        NodeRecord record = new NodeRecord(
                node,
                epochSeconds,
                epochSeconds,
                node,
                "n" + node,
                0,
                List.of(LinkRecord.silent(link("10.0.12.2"), 9, 1)));
        return ByteBuffer.wrap(
                RecordCodec.pack(List.of(RecordCodec.seal(record, key))).getFirst());
    }

    @Test
    void severalProcessesOfANodeAreOneNode() {
        Topology topology = new Topology(
                new Origin(1, 1, "a"),
                List.of(LinkRecord.silent(link("10.0.12.1"), 0, 1)),
                Simulation.clusterKey(),
                () -> 0,
                () -> 0);
        List<RecordCodec.Sealed> two = new ArrayList<>();
        for (int process = 2; process < 4; process++) {
            NodeRecord record = new NodeRecord(
                    process, 1, 0, 2, "b", 0, List.of(LinkRecord.silent(link("10.0.12.2"), 4000 + process, 1)));
            two.add(RecordCodec.seal(record, Simulation.clusterKey()));
        }
        topology.received(ByteBuffer.wrap(RecordCodec.pack(two).getFirst()), InetAddress.ofLiteral("10.0.12.2"), 0);

        assertThat(topology.nodes().all()).hasSize(2);
        assertThat(topology.nodes().all().getLast().links().getFirst().relays()).hasSize(2);
    }

    private static byte[] announcement(long process, long sequence) {
        NodeRecord record = new NodeRecord(
                process, sequence, 0, process, "x", 0, List.of(LinkRecord.silent(link("10.0.12.2"), 9, 1)));
        return RecordCodec.pack(List.of(RecordCodec.seal(record, Simulation.clusterKey())))
                .getFirst();
    }

    private static trigon.system.InterfaceAddress link(String address) {
        return new trigon.system.InterfaceAddress(InetAddress.ofLiteral(address), 24);
    }
}
