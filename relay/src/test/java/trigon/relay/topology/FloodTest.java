package trigon.relay.topology;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import trigon.relay.table.NetworkMap;
import trigon.system.InterfaceAddress;
import trigon.testsupport.AllocationAssert;

/** Records that a stranger makes up: what they cost is measured in bytes that are allocated. */
class FloodTest {

    private static final InetAddress TARGET = InetAddress.ofLiteral("10.0.23.3");
    private static final InetAddress STRANGER = InetAddress.ofLiteral("10.0.12.9");
    private static final InetAddress ANOTHER = InetAddress.ofLiteral("10.0.12.8");

    private final Topology topology = new Topology(
            new Origin(1, 1, "victim"),
            List.of(LinkRecord.silent(InterfaceAddress.parse("10.0.12.1/24"), 0, 1)),
            Simulation.clusterKey(),
            () -> 0,
            () -> 0);

    @Test
    void whatIsKnownIsPutTogetherOnceForEachChange() {
        flood(8, STRANGER, 0);
        Nodes nodes = topology.nodes();

        topology.tick(0);
        assertThat(topology.nodes()).isSameAs(nodes);

        flood(9, STRANGER, 0);
        assertThat(topology.nodes()).isNotSameAs(nodes);
    }

    /** Each says that it hears everybody on each of its links. */
    @Test
    void moreNodesCostAccordingly() {
        flood(64, STRANGER, 0);
        long some = allocatedByALook();
        flood(256, STRANGER, 0);
        long more = allocatedByALook();

        assertThat(more).as("of four times the nodes").isLessThan(6 * some);
    }

    /** Whatever is asked, of as many nodes as are remembered, is answered with a bounded number of looks. */
    @Test
    void aFullTableIsLookedAt() {
        flood(Limits.MAX_RECORDS, STRANGER, 0);
        flood(Limits.MAX_RECORDS, ANOTHER, 0);
        Nodes nodes = topology.nodes();

        assertThat(nodes.all()).hasSizeBetween(2000, Limits.MAX_RECORDS + 1);
        assertThat(Shape.describe(nodes)).startsWith("full mesh of ").contains(", and ");
        assertThat(Shape.parts(nodes)).hasSize(1);
        assertThat(NodeOrder.advice(nodes)).startsWith("no order of these nodes");
        assertThat(Simulation.routes(nodes, InetAddress.ofLiteral("fd00::1"))).isEmpty();
        assertThat(Simulation.routes(nodes, InetAddress.ofLiteral("192.0.2.1"))).isEmpty();
    }

    /** Each link is in a subnet of the one before, and of all those of other nodes that are larger. */
    @Test
    void nestedSubnetsCostAsFewDo() {
        nested(512, 3);
        long few = allocatedByNeighbours();
        nested(512, 128);
        long many = allocatedByNeighbours();

        assertThat(many).as("of 129 lengths of prefixes").isLessThan(4 * few);
    }

    private void nested(int nodes, int longest) {
        List<RecordCodec.Sealed> sealed = new ArrayList<>();
        for (int node = 0; node < nodes; node++) {
            List<LinkRecord> links = new ArrayList<>();
            for (int link = 0; link < NodeRecord.MAX_LINKS; link++) {
                int number = node * NodeRecord.MAX_LINKS + link;
                InetAddress address = InetAddress.ofLiteral("fd00::%x".formatted(number + 1));
                links.add(new LinkRecord(
                        new InterfaceAddress(address, number % (longest + 1)), 1, 1, false, List.of(), true));
            }
            sealed.add(sealed(node + 100, longest, links));
        }
        say(sealed, STRANGER, 0);
    }

    private long allocatedByNeighbours() {
        long before = AllocationAssert.allocatedBytes();
        Nodes nodes = topology.nodes();
        assertThat(nodes.neighbours(nodes.all().getFirst())).isNotEmpty();
        return AllocationAssert.allocatedBytes() - before;
    }

    /** Strangers behind one link say that they lead everywhere; the route over the other one is found all the same. */
    @Test
    void waysOverOneLinkLeaveRoomForOthers() {
        Topology twoLinks = new Topology(
                new Origin(1, 1, "victim"),
                List.of(
                        LinkRecord.silent(InterfaceAddress.parse("10.0.12.1/24"), 0, 1),
                        LinkRecord.silent(InterfaceAddress.parse("10.0.13.1/24"), 0, 1)),
                Simulation.noKey(),
                () -> 0,
                () -> 0);
        for (int node = 0; node < 600; node++) {
            say(twoLinks, node + 100, Simulation.address(10, 0, 12, 2 + node % 250), "10.0.12.1");
        }
        say(twoLinks, 50, InetAddress.ofLiteral("10.0.13.2"), "10.0.13.1");

        assertThat(Simulation.routes(twoLinks.nodes(), TARGET))
                .hasSizeLessThanOrEqualTo(8)
                .extracting(Route::local)
                .contains(InetAddress.ofLiteral("10.0.12.1"), InetAddress.ofLiteral("10.0.13.1"));
    }

    /** A node says that it hears this one and the target. */
    private static void say(Topology to, int node, InetAddress address, String heard) {
        LinkRecord link = new LinkRecord(
                new InterfaceAddress(address, 24), 1, 1, false, List.of(InetAddress.ofLiteral(heard), TARGET), false);
        NodeRecord record = new NodeRecord(node, 1, 0, node, "n" + node, 0, List.of(link));
        for (byte[] datagram : RecordCodec.pack(List.of(RecordCodec.seal(record, Simulation.noKey())))) {
            to.received(ByteBuffer.wrap(datagram), address, 0);
        }
    }

    @Test
    void moreNodesThanATableMayHaveHaveNoRoutes() {
        flood(NetworkMap.MAX_NODES, STRANGER, 0);
        InetAddress first = Simulation.address(10, 1, 0, 0);

        assertThat(topology.nodes().all()).hasSize(NetworkMap.MAX_NODES + 1);
        assertThat(CableMap.of(topology.nodes(), Simulation.at(first))).isEmpty();
        assertThat(Simulation.routes(topology.nodes(), first)).isEmpty();
    }

    /** All say that they have the same addresses, and hear the same ones. */
    @Test
    void nodesWithTheSameAddressesAreLookedAt() {
        List<RecordCodec.Sealed> sealed = new ArrayList<>();
        List<InetAddress> addresses = new ArrayList<>();
        for (int i = 0; i < LinkRecord.MAX_NEIGHBOURS; i++) {
            addresses.add(Simulation.address(10, 9, 9, i + 1));
        }
        for (int node = 0; node < Limits.MAX_RECORDS / 2; node++) {
            List<LinkRecord> links = addresses.stream()
                    .map(each -> new LinkRecord(new InterfaceAddress(each, 24), 1, 1, false, addresses, true))
                    .toList();
            sealed.add(sealed(node + 100, 1, links));
        }
        say(sealed, STRANGER, 0);

        Nodes nodes = topology.nodes();
        assertThat(Shape.describe(nodes)).startsWith("partitioned of ");
        assertThat(Simulation.routes(nodes, addresses.getFirst())).isEmpty();
    }

    @Test
    void whoFloodsFromOneAddressLeavesRoomForOthers() {
        flood(Limits.MAX_RECORDS, STRANGER, 0);
        assertThat(topology.nodes().all()).hasSizeLessThanOrEqualTo(Limits.MAX_RECORDS / 2 + 1);
        assertThat(topology.overLimit()).isPositive();
        assertThat(topology.overLimitToTell()).contains(STRANGER);

        List<LinkRecord> links = List.of(LinkRecord.silent(InterfaceAddress.parse("10.0.12.2/24"), 9, 1));
        for (int sequence = 1; sequence < 20; sequence++) {
            say(List.of(sealed(7, sequence, links)), ANOTHER, 0);
        }
        assertThat(topology.nodes().at(InetAddress.ofLiteral("10.0.12.2"))).isPresent();
        flood(Limits.MAX_RECORDS, STRANGER, 0);
        assertThat(topology.overLimitToTell()).as("once").isEmpty();
    }

    @Test
    void whatIsForgottenMakesRoom() {
        long old = 0;
        flood(Limits.MAX_RECORDS, STRANGER, old);
        long later = Topology.FORGOTTEN.toNanos() + 1;
        topology.tick(later);
        assertThat(topology.nodes().all()).hasSize(1);

        long before = topology.overLimit();
        flood(16, STRANGER, later);
        assertThat(topology.nodes().all()).hasSize(17);
        assertThat(topology.overLimit()).isEqualTo(before);
    }

    @Test
    void oneAddressHasHalfOfTheRecordsOfASecond() {
        Limits limits = new Limits();
        int taken = 0;
        for (int i = 0; i < 3 * Limits.MAX_A_SECOND; i++) {
            taken += limits.take(i % 3 == 0 ? ANOTHER : STRANGER, 0) ? 1 : 0;
        }
        assertThat(taken).isEqualTo(Limits.MAX_A_SECOND);
        assertThat(limits.take(ANOTHER, 999_999_999)).isFalse();

        int ofOne = 0;
        for (int i = 0; i < Limits.MAX_A_SECOND; i++) {
            ofOne += limits.take(STRANGER, 1_000_000_000) ? 1 : 0;
        }
        assertThat(ofOne).isEqualTo(Limits.MAX_A_SECOND / 2);
        assertThat(limits.take(ANOTHER, 1_000_000_000)).isTrue();
    }

    @Test
    void aNameChangesNothingOnATerminal() {
        NodeRecord record = new NodeRecord(5, 1, 0, 5, "a\u001b[2J\u009b1m\u0085\u202eb\u2028", 0, List.of());
        say(List.of(RecordCodec.seal(record, Simulation.clusterKey())), STRANGER, 0);

        assertThat(topology.nodes().all()).extracting(Node::name).contains("a?[2J?1m??b?");
    }

    private long allocatedByALook() {
        long before = AllocationAssert.allocatedBytes();
        Nodes nodes = topology.nodes();
        assertThat(Shape.describe(nodes)).startsWith("full mesh of ");
        return AllocationAssert.allocatedBytes() - before;
    }

    private void flood(int nodes, InetAddress source, long now) {
        Random random = new Random(source.hashCode() + nodes);
        List<RecordCodec.Sealed> sealed = new ArrayList<>();
        for (int node = 0; node < nodes; node++) {
            List<LinkRecord> links = new ArrayList<>();
            for (int link = 0; link < NodeRecord.MAX_LINKS; link++) {
                InetAddress address = Simulation.address(10, link + 1, node >> 8, node & 0xFF);
                links.add(new LinkRecord(new InterfaceAddress(address, 0), 1, 1, false, List.of(), true));
            }
            sealed.add(sealed(random.nextLong(), 1, links));
        }
        say(sealed, source, now);
    }

    private static RecordCodec.Sealed sealed(long id, long sequence, List<LinkRecord> links) {
        return RecordCodec.seal(new NodeRecord(id, sequence, 0, id, "n" + id, 0, links), Simulation.clusterKey());
    }

    private void say(List<RecordCodec.Sealed> records, InetAddress source, long now) {
        for (byte[] datagram : RecordCodec.pack(records)) {
            topology.received(ByteBuffer.wrap(datagram), source, now);
        }
    }
}
