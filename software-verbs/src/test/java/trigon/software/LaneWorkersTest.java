package trigon.software;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import trigon.software.LaneWorkers.Direction;
import trigon.testsupport.ConnectedPair;
import trigon.testsupport.LedgerAssert;
import trigon.testsupport.QueuePairSettings;
import trigon.testsupport.VerbsFabric;

class LaneWorkersTest {

    private static final int WORKERS = 4;

    private final SoftwareVerbs one = provider();
    private final SoftwareVerbs other = provider();
    private final List<ConnectedPair> pairs = new ArrayList<>();

    private static SoftwareVerbs provider() {
        LaneSettings lanes = new LaneSettings(
                new LaneSettings.Workers(WORKERS, Duration.ofNanos(20_000)),
                LaneSettings.Workers.NONE,
                1,
                LanesTest.FROM_BYTES,
                LanesTest.FROM_BYTES);
        return new SoftwareVerbs(List.of(Loopback.A, Loopback.B), lanes);
    }

    @AfterEach
    void close() {
        pairs.forEach(ConnectedPair::close);
        LedgerAssert.assertNothingOpen(one);
        LedgerAssert.assertNothingOpen(other);
        one.close();
        other.close();
    }

    private void open(SoftwareVerbs sender, SoftwareVerbs receiver) {
        ConnectedPair pair = ConnectedPair.open(
                new VerbsFabric(
                        new VerbsFabric.End(sender, "soft_a", 1, 0),
                        new VerbsFabric.End(receiver, "soft_b", 1, 0),
                        Optional.empty()),
                QueuePairSettings.DEFAULT);
        pairs.add(pair);
        LanesTest.openLanes(pair);
    }

    /** As NCCL opens its channels, in any order: to one neighbour, from the other. */
    @Test
    void lanesOfOneDirectionAreDealtEvenly() throws IOException {
        for (int i = 0; i < WORKERS; i++) {
            open(one, other);
            if (i % 2 == 0) {
                open(other, one);
                open(other, one);
            }
        }
        for (SoftwareVerbs each : List.of(one, other)) {
            for (Direction direction : Direction.values()) {
                // there are as many of them as workers, so none has two if none has none
                assertThat(each.laneWorkers().forLane(1, direction).lanes(direction))
                        .describedAs("the fewest %s lanes of a worker", direction)
                        .isEqualTo(1);
            }
        }
    }

    @Test
    void aWorkerOfItsOwnComesFirst() throws IOException {
        for (int i = 0; i < WORKERS / 2; i++) {
            open(one, other);
            open(other, one);
        }
        for (SoftwareVerbs each : List.of(one, other)) {
            LaneWorker next = each.laneWorkers().forLane(1, Direction.OUTGOING);
            assertThat(next.lanes()).describedAs("lanes of any worker").isEqualTo(1);
        }
    }

    @Test
    void whatIsClosedCountsNoMore() throws IOException {
        for (int i = 0; i < WORKERS; i++) {
            open(one, other);
        }
        pairs.removeFirst().close();

        // all workers have been started, so an idle one is not a new one
        assertThat(one.laneWorkers().forLane(1, Direction.OUTGOING).lanes()).isZero();
        assertThat(other.laneWorkers().forLane(1, Direction.INCOMING).lanes()).isZero();
    }
}
