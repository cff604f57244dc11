package trigon.relay.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import trigon.testsupport.Seed;

class RouteTableTest {

    private static final int GRAPHS = Integer.getInteger("trigon.route.graphs", 300);
    private static final int MAX_OF_RANDOM = 24;
    private static final BitSet NONE = new BitSet();
    private static final double ONE_UNIT = 1.0 / RouteTable.UNITS;

    /** The bounds are those of any routing, by counting or linear programs. */
    @ParameterizedTest
    @CsvSource({
        "ring8, 8, 1.02",
        "ring16, 32, 1.02",
        "torus4x4, 8, 1.02",
        "torus8x8, 64, 1.02",
        "torus4x4x4, 32, 1.02",
        "hypercube6, 32, 1.02",
        "dragonfly9x4, 16.4, 1.15",
        "dragonfly8x8, 64, 1.02",
        "stars7x8, 495, 1.02",
        "line7, 12, 1.02"
    })
    void theHottestCableHasHardlyMoreThanItMust(String shape, double bound, double most) {
        double hottest = hottest(RouteTable.of(shape(shape), NONE));

        assertThat(hottest).isGreaterThanOrEqualTo(Math.floor(bound));
        assertThat(hottest).isLessThanOrEqualTo(Math.max(bound * most, bound + ONE_UNIT));
    }

    private static NetworkMap shape(String name) {
        int[] sizes = Arrays.stream(name.replaceAll("^[a-z]+", "").split("x"))
                .mapToInt(Integer::parseInt)
                .toArray();
        return switch (name.replaceAll("[0-9].*", "")) {
            case "ring", "torus" -> Shapes.torus(sizes);
            case "hypercube" -> Shapes.hypercube(sizes[0]);
            case "dragonfly" -> Shapes.dragonfly(sizes[0], sizes[1]);
            case "stars" -> Shapes.stars(sizes[0], sizes[1]);
            case "line" -> Shapes.line(sizes[0]);
            default -> throw new IllegalArgumentException(name);
        };
    }

    /** In pairs of nodes. */
    private static double hottest(RouteTable table) {
        return Arrays.stream(table.loads()).max().orElse(0) * ONE_UNIT;
    }

    @Test
    void randomMapsHaveRoutesThatCarryMost() {
        Random random = new Random(Seed.next());
        for (int graph = 0; graph < GRAPHS; graph++) {
            NetworkMap map = Shapes.random(random, MAX_OF_RANDOM);
            BitSet dead = new BitSet();
            IntStream.range(0, map.cables().size() / 6 * random.nextInt(2))
                    .forEach(_ -> dead.set(random.nextInt(map.cables().size())));
            check(map, dead);
        }
    }

    private static void check(NetworkMap map, BitSet dead) {
        RouteTable table = RouteTable.of(map, dead);
        RouteTable whole = RouteTable.of(map, NONE);
        int[] loads = new int[map.cables().size()];
        for (int from = 0; from < map.nodes(); from++) {
            for (int to = 0; to < map.nodes(); to++) {
                List<Walk> units = table.units(from, to);
                double best = from == to ? 0 : best(map, dead, from, to);
                assertThat(units).hasSize(best > 0 ? RouteTable.UNITS : 0);
                assertThat(table.units(to, from))
                        .isEqualTo(units.stream().map(Walk::reversed).toList());
                List<Walk> kept = whole.units(from, to).stream()
                        .filter(walk -> walk.cables().stream().noneMatch(dead::get))
                        .toList();
                for (Walk walk : units) {
                    checkRoute(map, dead, walk, from, to);
                    if (!kept.contains(walk)) {
                        assertThat(carries(map, walk)).isEqualTo(best);
                    }
                }
                assertThat(units).containsAll(kept);
                if (from < to) {
                    units.forEach(walk -> walk.cables().forEach(cable -> loads[cable]++));
                }
            }
        }
        assertThat(table.loads()).isEqualTo(loads);
    }

    private static void checkRoute(NetworkMap map, BitSet dead, Walk walk, int from, int to) {
        assertThat(walk.nodes().getFirst()).isEqualTo(from);
        assertThat(walk.nodes().getLast()).isEqualTo(to);
        assertThat(new HashSet<>(walk.nodes())).hasSameSizeAs(walk.nodes());
        assertThat(walk.relays()).isBetween(0, RouteTable.MAX_RELAYS);
        assertThat(walk.cables()).noneMatch(dead::get);
        for (int hop = 0; hop < walk.cables().size(); hop++) {
            NetworkMap.Cable cable = map.cables().get(walk.cables().get(hop));
            assertThat(List.of(cable.one(), cable.other()))
                    .containsExactlyInAnyOrder(
                            walk.nodes().get(hop), walk.nodes().get(hop + 1));
            assertThat(hop > 0 && map.idle().get(walk.nodes().get(hop))).isFalse();
        }
    }

    private static double carries(NetworkMap map, Walk walk) {
        int slowest = walk.cables().stream()
                .mapToInt(cable -> map.cables().get(cable).step())
                .min()
                .orElseThrow();
        return Speed.of(slowest) / (double) walk.cables().size();
    }

    /** The most that a route carries, found by asking how fast each number of hops can be. */
    private static double best(NetworkMap map, BitSet dead, int from, int to) {
        int[] widest = new int[map.nodes()];
        Arrays.fill(widest, -1);
        widest[from] = Integer.MAX_VALUE;
        double best = 0;
        for (int hops = 1; hops <= RouteTable.MAX_RELAYS + 1; hops++) {
            int[] next = new int[map.nodes()];
            Arrays.fill(next, -1);
            for (int i = dead.nextClearBit(0); i < map.cables().size(); i = dead.nextClearBit(i + 1)) {
                NetworkMap.Cable cable = map.cables().get(i);
                widen(map, from, widest, next, cable.one(), cable.other(), cable.step());
                widen(map, from, widest, next, cable.other(), cable.one(), cable.step());
            }
            widest = next;
            best = widest[to] < 0 ? best : Math.max(best, Speed.of(widest[to]) / (double) hops);
        }
        return best;
    }

    private static void widen(NetworkMap map, int from, int[] widest, int[] next, int here, int there, int step) {
        if (widest[here] >= 0 && (here == from || !map.idle().get(here))) {
            next[there] = Math.max(next[there], Math.min(widest[here], step));
        }
    }

    @Test
    void theSameMapHasTheSameTable() {
        NetworkMap map = Shapes.torus(4, 4);
        RouteTable one = RouteTable.of(map, NONE);
        RouteTable other = RouteTable.of(Shapes.torus(4, 4), NONE);

        for (int from = 0; from < map.nodes(); from++) {
            for (int to = 0; to < map.nodes(); to++) {
                assertThat(one.units(from, to)).isEqualTo(other.units(from, to));
            }
        }
    }

    /** Of a cut ring of 16, the ends are 14 relays apart; of 18 in a line, 16. */
    @Test
    void routesHaveFifteenRelaysAtMost() {
        RouteTable table = RouteTable.of(Shapes.line(18), NONE);

        assertThat(table.units(0, 16))
                .isNotEmpty()
                .allSatisfy(walk -> assertThat(walk.relays()).isEqualTo(15));
        assertThat(table.units(0, 17)).isEmpty();
    }

    @Test
    void aRouteBesidesThoseOfTheTableIsFound() {
        RouteTable ring = RouteTable.of(Shapes.torus(6), NONE);
        BitSet first = new BitSet();
        first.set(ring.units(0, 2).getFirst().cables().getFirst());

        assertThat(ring.units(0, 2)).extracting(Walk::relays).containsOnly(1);
        assertThat(ring.without(0, 2, first).orElseThrow().nodes()).containsExactly(0, 5, 4, 3, 2);
        assertThat(ring.without(2, 0, first).orElseThrow().nodes()).containsExactly(2, 3, 4, 5, 0);
    }

    @Test
    void unitsOverTheSameRelaysAreNotNeighbours() {
        NetworkMap.Cable ab = new NetworkMap.Cable(0, 1, Shapes.STEP);
        NetworkMap.Cable ad = new NetworkMap.Cable(0, 3, Shapes.STEP);
        NetworkMap.Cable bc = new NetworkMap.Cable(1, 2, Shapes.STEP);
        NetworkMap.Cable cd = new NetworkMap.Cable(2, 3, Shapes.STEP);
        RouteTable twins = RouteTable.of(new NetworkMap(4, NONE, List.of(ab, ab, ad, ad, bc, bc, cd, cd)), NONE);

        List<Walk> units = twins.units(0, 2);
        assertThat(new HashSet<>(units)).hasSize(4);
        assertThat(units.get(0).nodes()).isNotEqualTo(units.get(1).nodes());
        assertThat(units.get(2).nodes()).isNotEqualTo(units.get(3).nodes());
    }

    @Test
    void aLargeMapIsRefused() {
        assertThatThrownBy(() -> new NetworkMap(NetworkMap.MAX_NODES + 1, NONE, List.of()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("65 nodes");
    }

    /** All nodes on one switch, with as many links as count: the densest map that there is. */
    @Test
    void theDensestMapHasATable() {
        List<NetworkMap.Cable> cables = IntStream.range(0, NetworkMap.MAX_NODES)
                .boxed()
                .flatMap(one -> IntStream.range(one + 1, NetworkMap.MAX_NODES)
                        .boxed()
                        .flatMap(other -> IntStream.range(0, NetworkMap.MAX_PARALLEL)
                                .mapToObj(step -> new NetworkMap.Cable(one, other, step))))
                .toList();
        RouteTable table = RouteTable.of(new NetworkMap(NetworkMap.MAX_NODES, NONE, cables), NONE);

        assertThat(table.units(0, 63)).extracting(Walk::relays).containsOnly(0);
    }
}
