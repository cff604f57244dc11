package trigon.relay.topology;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import trigon.config.cluster.ClusterConfig;
import trigon.config.file.ConfigLoader;
import trigon.relay.table.RouteTable;

class TableRoutesTest {

    @Test
    void goesOverFifteenRelaysAndNoMore() {
        Simulation net = settled(18, Simulation.line(18));
        Nodes from = net.nodes.getFirst().nodes();

        Route far = Simulation.routes(from, net.address(16, 0).address()).getFirst();
        assertThat(far.names())
                .isEqualTo(IntStream.rangeClosed(1, 15).mapToObj(i -> "n" + i).toList());
        assertThat(far.local()).isEqualTo(net.address(0, 0).address());
        assertThat(Simulation.routes(from, net.address(17, 0).address())).isEmpty();
    }

    /** Each node has heard of the others at another time, and numbers nothing by it. */
    @Test
    void allNodesHaveTheSameTable() {
        Simulation net = settled(16, Simulation.torus(4, 4));
        for (int one = 0; one < 16; one++) {
            for (int other = 0; other < 16; other++) {
                List<List<String>> forth = names(net, one, other);
                assertThat(names(net, other, one))
                        .isEqualTo(forth.stream().map(List::reversed).toList());
            }
        }
    }

    /** Routes of the table that need relays. */
    private static List<List<String>> names(Simulation net, int from, int to) {
        Nodes known = net.nodes.get(from).nodes();
        CableMap map =
                CableMap.of(known, Simulation.at(net.address(to, 0).address())).orElseThrow();
        assertThat(map.map())
                .isEqualTo(CableMap.of(
                                net.nodes.get(to).nodes(),
                                Simulation.at(net.address(from, 0).address()))
                        .orElseThrow()
                        .map());
        return RouteTable.of(map.map(), new BitSet()).units(map.own(), map.peer()).stream()
                .flatMap(map::route)
                .map(Route::names)
                .toList();
    }

    /** The cable to it may have just been cut, which is known some seconds later. */
    @Test
    void aNeighbourIsReachedThroughOthersToo() {
        Simulation net = settled(4, Simulation.ring(4));

        Nodes from = net.nodes.getFirst().nodes();
        Node peer = net.nodes.get(1).nodes().own();
        assertThat(new TableRoutes(() -> from).to(peer, 0))
                .extracting(Route::names)
                .containsExactly(List.of("n3", "n2"));
    }

    @Test
    void otherRoutesFollowThoseOfTheTable() {
        Simulation net = settled(6, Simulation.ring(6));

        assertThat(Simulation.routes(
                        net.nodes.getFirst().nodes(), net.address(2, 0).address()))
                .extracting(Route::names)
                .first()
                .isEqualTo(List.of("n1"));
        Nodes from = net.nodes.getFirst().nodes();
        Node peer = net.nodes.get(2).nodes().own();
        assertThat(new TableRoutes(() -> from).to(peer, 0))
                .extracting(Route::names)
                .contains(List.of("n5", "n4", "n3"));
    }

    @Test
    void bothEndsOfALineFindTheSameWay() {
        Simulation net = settled(4, Simulation.line(4));
        InetAddress near = net.address(0, 0).address();
        InetAddress far = net.address(3, 0).address();

        assertThat(Simulation.routes(net.nodes.get(0).nodes(), far).getFirst().names())
                .containsExactly("n1", "n2");
        assertThat(Simulation.routes(net.nodes.get(3).nodes(), near).getFirst().names())
                .containsExactly("n2", "n1");
    }

    /** TCP carries less than a fast cable, and both ends come to the same. */
    @Test
    void saysWhatCarriesTheHops() {
        Simulation net = new Simulation(4, Simulation.line(4), 0, 1, Simulation.clusterKey());
        net.rdma(0, 1);
        net.rdma(1, 2);
        net.runUntil(6000);
        Nodes first = net.nodes.getFirst().nodes();
        Nodes last = net.nodes.getLast().nodes();

        Route byRdma = Simulation.routes(first, net.address(2, 0).address()).getFirst();
        assertThat(byRdma.rdmaHops()).isEqualTo(2);
        assertThat(byRdma.speedMbps()).isEqualTo(100_000);
        Route forth = Simulation.routes(first, net.address(3, 0).address()).getFirst();
        Route back = Simulation.routes(last, net.address(0, 0).address()).getFirst();
        assertThat(forth.rdmaHops()).isEqualTo(2).isEqualTo(back.rdmaHops());
        assertThat(forth.speedMbps()).isEqualTo(24_000).isEqualTo(back.speedMbps());
    }

    @Test
    void aCutCableIsNoWay() {
        Simulation net = settled(4, Simulation.ring(4));
        net.cut(1, 2);
        net.runUntil(12_000);

        assertThat(Simulation.routes(
                                net.nodes.getFirst().nodes(), net.address(2, 1).address())
                        .getFirst()
                        .names())
                .containsExactly("n3");
        assertThat(Simulation.routes(
                        net.nodes.getFirst().nodes(), net.address(2, 0).address()))
                .isEmpty();
    }

    @Test
    void namesAnOrderThatNeedsNoRelay() {
        Simulation net = settled(4, List.of(new int[] {0, 2}, new int[] {2, 1}, new int[] {1, 3}, new int[] {3, 0}));
        Nodes nodes = net.nodes.getFirst().nodes();
        List<Node> order = NodeOrder.withoutRelay(nodes).orElseThrow();

        assertThat(NodeOrder.relayed(nodes, order)).isZero();
        assertThat(NodeOrder.relayed(nodes, nodes.all())).isEqualTo(2);
        assertThat(NodeOrder.advice(nodes)).contains("n0,n2,n1,n3", "n2: --node_rank 1", "SLURM_HOSTFILE");
    }

    @Test
    void aLineAndAStarHaveNoSuchOrder() {
        for (List<int[]> joined : List.of(Simulation.line(4), Simulation.star(4))) {
            Nodes nodes = settled(4, joined).nodes.getFirst().nodes();
            assertThat(NodeOrder.withoutRelay(nodes)).isEmpty();
            assertThat(NodeOrder.advice(nodes)).contains("no order of these nodes avoids relays");
        }
    }

    @Test
    void tellsOfCablesThatTheFileHasAndNobodyHears(@TempDir Path directory) throws Exception {
        Simulation net = settled(3, Simulation.ring(3));
        Path file = Files.writeString(directory.resolve("cluster.yaml"), """
            version: 1
            nodes:
              n0: {nics: [{address: 10.100.0.1/24}, {address: 10.100.2.1/24}]}
              n1: {nics: [{address: 10.100.0.2/24}, {address: 10.100.1.1/24}]}
              n2: {nics: [{address: 10.100.1.2/24}, {address: 10.100.2.2/24}]}
            """);
        ClusterConfig cluster = ConfigLoader.load(Map.of("TRIGON_CONFIG", file.toString()), "n0")
                .cluster()
                .orElseThrow();
        assertThat(CableCheck.contradictions(cluster, net.nodes.getFirst().nodes()))
                .isEmpty();

        net.cut(0, 1);
        net.runUntil(12_000);
        assertThat(CableCheck.contradictions(cluster, net.nodes.getFirst().nodes()))
                .singleElement()
                .asString()
                .contains("n0-n1 (10.100.0.1/24 to 10.100.0.2/24)", "neither receives the other's announcements");
    }

    private static Simulation settled(int count, List<int[]> joined) {
        Simulation net = new Simulation(count, joined, 0, 7, Simulation.clusterKey());
        net.runUntil(4000);
        return net;
    }
}
