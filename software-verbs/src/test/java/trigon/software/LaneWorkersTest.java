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
import trigon.testsupport.QueuePairSettings;
import trigon.testsupport.VerbsFabric;

class LaneWorkersTest {

    private static final int WORKERS = 4;

    private final SoftwareVerbs one = provider(WORKERS, Duration.ofNanos(20_000));
    private final SoftwareVerbs other = provider(WORKERS, Duration.ofNanos(20_000));
    private final List<ConnectedPair> pairs = new ArrayList<>();

    /** With a lane for each queue pair. */
    static SoftwareVerbs provider(int workers, Duration busyPoll) {
        LaneSettings lanes = new LaneSettings(
                new LaneSettings.Workers(workers, busyPoll),
                LaneSettings.Workers.NONE,
                1,
                new LaneSettings.Cut(LanePairs.FROM_BYTES, LanePairs.FROM_BYTES, LanePairs.FROM_BYTES, 1));
        return new SoftwareVerbs(List.of(Loopback.A, Loopback.B), lanes);
    }

    @AfterEach
    void close() {
        pairs.forEach(ConnectedPair::close);
        Loopback.closeUnused(one, other);
    }

    private void open(SoftwareVerbs sender, SoftwareVerbs receiver) {
        pairs.add(connect(sender, receiver));
    }

    /** A pair whose first end has its lane. */
    static ConnectedPair connect(SoftwareVerbs sender, SoftwareVerbs receiver) {
        ConnectedPair pair = ConnectedPair.open(
                new VerbsFabric(
                        new VerbsFabric.End(sender, "soft_a", 1, 0),
                        new VerbsFabric.End(receiver, "soft_b", 1, 0),
                        Optional.empty()),
                QueuePairSettings.DEFAULT);
        LanePairs.openLanes(pair);
        return pair;
    }

    /** The worker that would get the next lane. */
    private static LaneWorker next(SoftwareVerbs provider, Direction direction) throws IOException {
        LaneWorker[] next = new LaneWorker[1];
        provider.laneWorkers().deal(1, direction, worker -> next[0] = worker);
        return next[0];
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
                assertThat(next(each, direction).lanes(direction))
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
            LaneWorker next = next(each, Direction.OUTGOING);
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
        assertThat(next(one, Direction.OUTGOING).lanes()).isZero();
        assertThat(next(other, Direction.INCOMING).lanes()).isZero();
    }
}
