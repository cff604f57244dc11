package trigon.routing.table;

import static org.assertj.core.api.Assertions.assertThat;
import static trigon.routing.Links.address;
import static trigon.routing.Links.peer;
import static trigon.routing.Links.rdma;
import static trigon.routing.Links.remote;
import static trigon.routing.Links.software;
import static trigon.routing.Links.table;
import static trigon.verbs.LinkKind.RDMA;
import static trigon.verbs.LinkKind.SOFTWARE;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import trigon.routing.LocalLink;
import trigon.routing.Path;
import trigon.routing.PeerDescription;
import trigon.routing.PeerLink;
import trigon.routing.RouteLookup;

class DisjointPathsTest {

    private static List<String> apart(int most, RoutingTable table, PeerDescription peer) {
        return DisjointPaths.among(table.pathsTo(peer), most).stream()
                .map(path -> path.local().name() + " " + path.remote().address().getHostAddress() + " " + path.kind())
                .toList();
    }

    @Test
    void takesACableForEachSubnet() {
        RoutingTable table = table(rdma("first", "10.0.1.1/24", 0), rdma("second", "10.0.2.1/24", 1));
        PeerDescription peer = peer(remote("10.0.2.2/24", RDMA), remote("10.0.1.2/24", RDMA));

        assertThat(apart(8, table, peer)).containsExactly("first 10.0.1.2 RDMA", "second 10.0.2.2 RDMA");
        assertThat(apart(1, table, peer)).containsExactly("first 10.0.1.2 RDMA");
    }

    @Test
    void pairsTheLinksOfOneSubnetInTheirOrder() {
        RoutingTable table = table(rdma("a", "10.0.1.1/24", 0), rdma("b", "10.0.1.2/24", 1));

        assertThat(apart(8, table, peer(remote("10.0.1.11/24", RDMA), remote("10.0.1.12/24", RDMA))))
                .containsExactly("a 10.0.1.11 RDMA", "b 10.0.1.12 RDMA");
        assertThat(apart(8, table, peer(remote("10.0.1.11/24", RDMA)))).containsExactly("a 10.0.1.11 RDMA");
    }

    @Test
    void whereThePeerHasFewerCablesThereAreFewerPaths() {
        RoutingTable table = table(
                rdma("first", "10.0.1.1/24", 0), rdma("second", "10.0.2.1/24", 1), rdma("third", "10.0.3.1/24", 2));

        assertThat(apart(8, table, peer(remote("10.0.2.2/24", RDMA), remote("10.0.3.2/24", RDMA))))
                .containsExactly("second 10.0.2.2 RDMA", "third 10.0.3.2 RDMA");
    }

    @Test
    void leavesOutWhatIsLessDirectOrOfAnotherKind() {
        RoutingTable table = table(
                rdma("cable", "10.0.1.1/30", 0),
                rdma("campus", "10.1.0.1/16", 1),
                software("cable", "10.0.1.1/30", 0),
                software("other", "10.0.2.1/30", 2));
        PeerDescription peer = peer(
                remote("10.0.1.2/30", RDMA, SOFTWARE), remote("10.1.0.2/16", RDMA), remote("10.0.2.2/30", SOFTWARE));

        assertThat(apart(8, table, peer)).containsExactly("cable 10.0.1.2 RDMA");
    }

    @Test
    void twoAddressesOfOneInterfaceAreOneCable() {
        LocalLink first = rdma("same", "10.0.1.1/24", 0);
        LocalLink second = rdma("same", "10.0.2.1/24", 0);

        assertThat(apart(8, table(first, second), peer(remote("10.0.1.2/24", RDMA), remote("10.0.2.2/24", RDMA))))
                .containsExactly("same 10.0.1.2 RDMA");
    }

    @Test
    void alongRoutesThereIsOne() {
        RouteLookup routes = to -> Optional.of(address(to.equals(address("10.9.0.1")) ? "10.0.1.1" : "10.0.2.1"));
        RoutingTable table = new RoutingTable(
                List.of(rdma("first", "10.0.1.1/24", 0), rdma("second", "10.0.2.1/24", 1)),
                routes,
                Map.of(),
                List.of());
        PeerDescription peer = peer(remote("10.9.0.1/24", RDMA), remote("10.9.0.2/24", RDMA));

        assertThat(table.pathsTo(peer)).hasSize(2);
        assertThat(apart(8, table, peer)).containsExactly("first 10.9.0.1 RDMA");
    }

    @Test
    void neverGivesTwoPathsAnEndInCommon() {
        RoutingTable table = table(
                rdma("a", "10.0.1.1/24", 0),
                rdma("b", "10.0.1.2/24", 1),
                rdma("c", "10.0.1.3/24", 2),
                rdma("d", "10.0.1.4/24", 3));
        for (int remotes = 1; remotes <= 6; remotes++) {
            PeerLink[] links = new PeerLink[remotes];
            for (int i = 0; i < remotes; i++) {
                links[i] = remote("10.0.1." + (20 + i) + "/24", RDMA);
            }
            for (int most = 1; most <= 8; most++) {
                List<Path> paths = DisjointPaths.among(table.pathsTo(peer(links)), most);

                assertThat(paths).hasSize(Math.min(most, Math.min(4, remotes)));
                assertThat(paths).map(Path::local).doesNotHaveDuplicates();
                assertThat(paths).map(Path::remote).doesNotHaveDuplicates();
            }
        }
    }

    @Test
    void whatIsAsFastGoesRound() {
        RoutingTable table = table(
                software("first", "10.0.1.1/24", 0, 10_000),
                software("second", "10.0.2.1/24", 1, 10_000),
                software("slow", "10.0.3.1/24", 2, 1_000));
        List<Path> candidates = table.pathsTo(peer(
                remote("10.0.1.2/24", SOFTWARE), remote("10.0.2.2/24", SOFTWARE), remote("10.0.3.2/24", SOFTWARE)));

        assertThat(inTurn(candidates, 1, 0)).containsExactly("first");
        assertThat(inTurn(candidates, 1, 1)).containsExactly("second");
        assertThat(inTurn(candidates, 1, 2)).containsExactly("first");
        assertThat(inTurn(candidates, 1, Integer.MAX_VALUE)).containsExactly("second");
        assertThat(inTurn(candidates, 2, 1)).containsExactly("second", "first");
        assertThat(inTurn(candidates, 8, 1)).as("all of them").containsExactly("first", "second", "slow");
    }

    private static List<String> inTurn(List<Path> candidates, int most, int turn) {
        return DisjointPaths.inTurn(candidates, most, turn).stream()
                .map(path -> path.local().name())
                .toList();
    }
}
