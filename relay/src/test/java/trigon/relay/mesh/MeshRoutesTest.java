package trigon.relay.mesh;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import trigon.config.cluster.ClusterKey;
import trigon.relay.topology.AnnouncementKey;
import trigon.relay.topology.LinkRecord;
import trigon.relay.topology.Origin;
import trigon.relay.topology.Topology;
import trigon.routing.Bandwidth;
import trigon.routing.LocalLink;
import trigon.routing.PeerLink;
import trigon.stream.circuit.CircuitKeys;
import trigon.system.InterfaceAddress;
import trigon.system.NanoClock;
import trigon.verbs.Gid;
import trigon.verbs.LinkKind;

/** The ring a-b-c-d-a: a looks for routes to c, and c for routes to a. The cables through b have RDMA at first. */
class MeshRoutesTest {

    private static final RelayProcesses PROCESSES = new RelayProcesses(0, NanoClock.SYSTEM);

    private static final int SPEED = 100_000;
    private static final int ROUNDS = 3;
    private static final Set<LinkKind> KINDS = Set.of(LinkKind.SOFTWARE, LinkKind.RDMA);
    private static final List<PeerLink> OF_C = List.of(
            new PeerLink(address("10.0.23.3").address(), 24, 7, KINDS),
            new PeerLink(address("10.0.34.3").address(), 24, 7, KINDS));

    /** Ends of cables: the index of a node in a, b, c, d, and of its link. */
    private static final int[][] CABLES = {{0, 0, 1, 0}, {1, 1, 2, 0}, {2, 1, 3, 0}, {3, 1, 0, 1}};

    private List<LinkRecord> ofB = List.of(link("10.0.12.2", true), link("10.0.23.2", true));
    private List<LinkRecord> ofD = List.of(link("10.0.34.4", false), link("10.0.14.4", false));
    private AnnouncementKey key = new AnnouncementKey(Optional.of(new ClusterKey(Path.of("/key"), new byte[32])));

    @Test
    void whatCarriesEachHopIsKnown() {
        assertThat(firstWays()).containsExactly("relayed by b over RDMA", "relayed by d over TCP");
    }

    @Test
    void aWayByRdmaCarriesMoreThanOneByTcp() {
        List<trigon.routing.Path> paths = routes().pathsTo("c", OF_C, 1);

        assertThat(paths.getFirst().bandwidth()).isEqualTo(Bandwidth.of(50_000));
        assertThat(paths.getLast().bandwidth()).isEqualTo(Bandwidth.of(12_000));
    }

    @Test
    void aRelayWithoutRdmaOnOneOfItsLinksMixesTheHops() {
        ofB = List.of(link("10.0.12.2", true), link("10.0.23.2", false));

        assertThat(firstWays()).contains("relayed by b over RDMA and TCP");
    }

    /** Without the cluster's key its announcement does not come to a. */
    @Test
    void thePeerItselfSaysWhetherItHasRdma() {
        key = new AnnouncementKey(Optional.empty());

        assertThat(firstWays()).contains("relayed by b over RDMA");
    }

    @Test
    void connectionsShareRelaysOfEqualRankByCount() {
        ofD = List.of(link("10.0.34.4", true), link("10.0.14.4", true));
        MeshRoutes routes = routes();
        List<String> first = new ArrayList<>();
        for (long connection = 1; connection <= 4; connection++) {
            first.add(routes.pathsTo("c", OF_C, connection * 77)
                    .getFirst()
                    .reason()
                    .toString());
        }
        assertThat(first)
                .containsExactly(
                        "relayed by b over RDMA",
                        "relayed by d over RDMA",
                        "relayed by b over RDMA",
                        "relayed by d over RDMA");
    }

    @Test
    void aLinkThatIsALittleSlowerHasItsShare() {
        ofD = List.of(
                new LinkRecord(address("10.0.34.4"), 5000, SPEED - 2000, true, List.of(), false),
                link("10.0.14.4", true));
        MeshRoutes routes = routes();

        assertThat(routes.pathsTo("c", OF_C, 1).getFirst().reason())
                .isNotEqualTo(routes.pathsTo("c", OF_C, 2).getFirst().reason());
    }

    /** A node with a wrong key file looks like one without a cable. */
    @Test
    void announcementsThatAnotherKeySignsAreReported() {
        Topology a = node("a", List.of(link("10.0.12.1", true)));
        key = new AnnouncementKey(
                Optional.of(new ClusterKey(Path.of("/other"), "other".repeat(7).getBytes(StandardCharsets.US_ASCII))));
        Topology b = node("b", ofB);
        b.tick(0).stream().filter(said -> said.link() == 0).forEach(said -> pass(b, said, a, 0, 0));
        MeshRoutes routes = new MeshRoutes(
                List.of(local(link("10.0.12.1", true))),
                _ -> Optional.empty(),
                new CircuitKeys(Optional.empty()),
                a::nodes,
                PROCESSES,
                0);

        assertThat(routes.report(OF_C))
                .contains("No announcement mentions the peer. But announcements from 10.0.12.2 are signed with"
                        + " another cluster key than this node's, or none; give all nodes the same key"
                        + " (TRIGON_CLUSTER_KEY_FILE). If they are another job's, a cable would help: from a to")
                .doesNotContain("no announcement arrived");
    }

    /** Two switches: a is on one, c on the other, and b and d are on both. */
    @Test
    void relaysBehindOneAddressShareItsCircuits() {
        Topology a = node("a", List.of(link("10.0.1.1", true)));
        List<Topology> all = List.of(
                a,
                node("b", List.of(link("10.0.1.2", true), link("10.0.2.2", true))),
                node("c", List.of(link("10.0.2.3", true))),
                node("d", List.of(link("10.0.1.4", true), link("10.0.2.4", true))));
        for (int round = 0; round < ROUNDS; round++) {
            announceOverSwitches(all, round * Topology.INTERVAL.toNanos());
        }
        MeshRoutes routes = new MeshRoutes(
                List.of(local(link("10.0.1.1", true))),
                _ -> Optional.empty(),
                new CircuitKeys(Optional.empty()),
                a::nodes,
                PROCESSES,
                0);
        InetAddress own = address("10.0.1.1").address();
        InetSocketAddress c = new InetSocketAddress(address("10.0.2.3").address(), 7);

        assertThat(routes.pathsTo("c", List.of(new PeerLink(c.getAddress(), 24, 7, KINDS)), 1))
                .singleElement()
                .satisfies(path -> assertThat(path.relays()).isEqualTo("b or d over RDMA"));
        List<InetAddress> first = new ArrayList<>();
        for (int circuit = 0; circuit < 4; circuit++) {
            assertThat(routes.leadTo(own, c.getAddress())).as("takes no turn").isTrue();
            first.add(routes.from(own, c).orElseThrow().first().getAddress());
        }
        assertThat(first)
                .containsOnly(address("10.0.1.2").address(), address("10.0.1.4").address());
        assertThat(first.get(0)).isEqualTo(first.get(2)).isNotEqualTo(first.get(1));
    }

    private static void announceOverSwitches(List<Topology> all, long now) {
        for (Topology node : all) {
            for (Topology.Outgoing said : node.tick(now)) {
                InterfaceAddress from = node.addresses().get(said.link());
                all.stream()
                        .filter(other -> other != node
                                && other.addresses().stream().anyMatch(link -> link.contains(from.address())))
                        .forEach(other -> other.received(ByteBuffer.wrap(said.datagram()), from.address(), now));
            }
        }
    }

    /** What the log says of a path, and where its connection goes. */
    @Test
    void aConnectionGoesByTheRelayThatItsPathNames() {
        key = new AnnouncementKey(Optional.empty());
        MeshRoutes routes = routes();
        for (trigon.routing.Path path : routes.pathsTo("c", OF_C, 1)) {
            InetSocketAddress end = new InetSocketAddress(path.remote().address(), 7);
            InetSocketAddress first = routes.from(path.local().address().address(), end)
                    .orElseThrow()
                    .first();
            String relay = first.getAddress().equals(address("10.0.12.2").address()) ? "b" : "d";
            assertThat(path.relays()).startsWith(relay + " over ");
        }
    }

    /** All of them are in one subnet: who has been heard on which link says where a cable leads. */
    @Test
    void linkLocalAddressesLeadThroughRelaysToo() {
        LinkRecord ofA = linkLocal("fe80::a");
        Topology a = node("a", List.of(ofA));
        Topology b = node("b", List.of(linkLocal("fe80::b1"), linkLocal("fe80::b2")));
        Topology c = node("c", List.of(linkLocal("fe80::c")));
        for (int round = 0; round < ROUNDS; round++) {
            long now = round * Topology.INTERVAL.toNanos();
            a.tick(now).forEach(said -> pass(a, said, b, 0, now));
            c.tick(now).forEach(said -> pass(c, said, b, 1, now));
            b.tick(now).forEach(said -> pass(b, said, said.link() == 0 ? a : c, 0, now));
        }
        MeshRoutes routes = new MeshRoutes(
                List.of(local(ofA)), _ -> Optional.empty(), new CircuitKeys(Optional.empty()), a::nodes, PROCESSES, 0);
        InetAddress toC = linkLocal("fe80::c").address().address();

        assertThat(routes.pathsTo("c", List.of(new PeerLink(toC, 64, 7, KINDS)), 1))
                .singleElement()
                .satisfies(path -> assertThat(path.relays()).isEqualTo("b over TCP"));
        InetAddress own = ofA.address().address();
        InetAddress first = routes.from(own, new InetSocketAddress(toC, 7))
                .orElseThrow()
                .first()
                .getAddress();
        assertThat(first).isEqualTo(linkLocal("fe80::b1").address().address());
        assertThat(((Inet6Address) first).getScopeId()).isEqualTo(1);
        assertThat(routes.from(own, new InetSocketAddress(first, 7)))
                .as("a neighbour")
                .isEmpty();
    }

    private static void pass(Topology from, Topology.Outgoing said, Topology to, int link, long now) {
        InetAddress source = from.addresses().get(said.link()).address();
        to.received(ByteBuffer.wrap(said.datagram()), source, link, now);
    }

    private static LinkRecord linkLocal(String address) {
        return LinkRecord.silent(InterfaceAddress.parse(address + "/64"), 5000, SPEED);
    }

    private List<String> firstWays() {
        return routes().pathsTo("c", OF_C, 1).stream()
                .map(path -> path.reason().toString())
                .toList();
    }

    /** Of a, once all have announced themselves. */
    private MeshRoutes routes() {
        List<LinkRecord> ofA = List.of(link("10.0.12.1", true), link("10.0.14.1", true));
        List<Topology> ring = List.of(
                node("a", ofA),
                node("b", ofB),
                node("c", List.of(link("10.0.23.3", true), link("10.0.34.3", true))),
                node("d", ofD));
        for (int round = 0; round < ROUNDS; round++) {
            announce(ring, round * Topology.INTERVAL.toNanos());
        }
        List<LocalLink> links = ofA.stream().map(MeshRoutesTest::local).toList();
        return new MeshRoutes(
                links, _ -> Optional.empty(), new CircuitKeys(Optional.empty()), ring.getFirst()::nodes, PROCESSES, 0);
    }

    private static void announce(List<Topology> ring, long now) {
        for (int node = 0; node < ring.size(); node++) {
            for (Topology.Outgoing said : ring.get(node).tick(now)) {
                for (int[] cable : CABLES) {
                    for (int end = 0; end < 4; end += 2) {
                        if (cable[end] == node && cable[end + 1] == said.link()) {
                            InterfaceAddress from = ring.get(node).addresses().get(said.link());
                            ring.get(cable[2 - end]).received(ByteBuffer.wrap(said.datagram()), from.address(), now);
                        }
                    }
                }
            }
        }
    }

    private Topology node(String name, List<LinkRecord> links) {
        long number = name.hashCode();
        Topology node = new Topology(new Origin(number, number, name), links, key, () -> 0, () -> 0);
        node.needRelays(true);
        return node;
    }

    private static LinkRecord link(String address, boolean rdma) {
        return new LinkRecord(address(address), 5000, SPEED, rdma, List.of(), false);
    }

    private static LocalLink local(LinkRecord link) {
        InterfaceAddress address = link.address();
        return new LocalLink(
                "lo", LinkKind.SOFTWARE, "lo", 1, address, 0, Gid.of(address.address()), SPEED, "lo", 1, 0);
    }

    private static InterfaceAddress address(String address) {
        return InterfaceAddress.parse(address + "/24");
    }
}
