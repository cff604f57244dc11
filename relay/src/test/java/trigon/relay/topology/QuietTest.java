package trigon.relay.topology;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Nothing is announced where nobody needs a relay, and what is needed is there soon after it is. */
class QuietTest {

    private static final long SEED = 42;

    @Test
    void nothingIsAnnouncedWhereNobodyNeedsARelay() {
        Simulation ring = new Simulation(8, Simulation.ring(8), 0, SEED, Simulation.clusterKey());
        ring.onlyNeededBy();
        ring.runUntil(30_000);

        assertThat(ring.datagrams).isZero();
        assertThat(ring.nodes)
                .allSatisfy(each -> assertThat(each.nextTick(ring.now)).isEmpty());
    }

    /** In the middle of a job: those beside it begin to announce themselves, and it has a route. */
    @Test
    void oneThatNeedsARelayFindsItWithoutAKey() {
        Simulation line = new Simulation(7, Simulation.line(7), 0, SEED, Simulation.noKey());
        line.onlyNeededBy();
        line.runUntil(20_000);
        line.onlyNeededBy(0);
        line.runUntil(22_000);

        assertThat(Simulation.routes(
                        line.nodes.getFirst().nodes(), line.address(2, 0).address()))
                .extracting(Route::names)
                .containsExactly(List.of("n1"));
        assertThat(Simulation.routes(
                        line.nodes.get(2).nodes(), line.address(0, 0).address()))
                .as("from there to the one that has called")
                .extracting(Route::names)
                .containsExactly(List.of("n1"));
        assertThat(line.nodes.get(3).nextTick(line.now))
                .as("the last that hears")
                .isPresent();
        assertThat(line.nodes.get(4).nextTick(line.now))
                .as("who is too far away")
                .isEmpty();
    }

    @Test
    void withAKeyOneCallsAll() {
        Simulation line = new Simulation(7, Simulation.line(7), 0, SEED, Simulation.clusterKey());
        line.onlyNeededBy(0);
        line.runUntil(2000);

        assertThat(line.nodes)
                .allSatisfy(each -> assertThat(Shape.of(each.nodes())).isEqualTo(Shape.LINE));
        assertThat(line.nodes).allSatisfy(each -> assertThat(each.nodes().all()).hasSize(7));
    }

    /** Nodes that are called do not call each other for ever. */
    @Test
    void afterTheNeedAllIsQuietAgain() {
        for (AnnouncementKey key : List.of(Simulation.clusterKey(), Simulation.noKey())) {
            Simulation ring = new Simulation(8, Simulation.ring(8), 0, SEED, key);
            ring.onlyNeededBy(0, 5);
            ring.runUntil(10_000);
            assertThat(ring.datagrams).isPositive();

            ring.onlyNeededBy();
            ring.runUntil(30_000);
            long said = ring.datagrams;
            ring.runUntil(60_000);
            assertThat(ring.datagrams).isEqualTo(said);
            assertThat(ring.nodes)
                    .allSatisfy(each -> assertThat(each.nodes().all()).hasSize(1));
        }
    }
}
