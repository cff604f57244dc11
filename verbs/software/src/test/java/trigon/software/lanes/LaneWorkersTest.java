package trigon.software.lanes;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import trigon.software.LaneSettings;
import trigon.software.device.LanePairs;
import trigon.software.device.Loopback;
import trigon.software.device.SoftwareVerbs;
import trigon.software.lanes.WorkerLanes.Direction;
import trigon.testsupport.verbs.ConnectedPair;
import trigon.testsupport.verbs.VerbsFabric;

class LaneWorkersTest {

    private static final int WORKERS = 4;

    private final LaneWorkers workersOfOne = workers(WORKERS, Duration.ofNanos(20_000));
    private final LaneWorkers workersOfOther = workers(WORKERS, Duration.ofNanos(20_000));
    private final SoftwareVerbs one = LanePairs.provider(workersOfOne);
    private final SoftwareVerbs other = LanePairs.provider(workersOfOther);
    private final List<ConnectedPair> pairs = new ArrayList<>();

    /** With a lane for each queue pair. */
    static LaneWorkers workers(int workers, Duration busyPoll) {
        LaneSettings lanes = new LaneSettings(
                new LaneSettings.Workers(workers, busyPoll),
                LaneSettings.Workers.NONE,
                1,
                new LaneSettings.Cut(LanePairs.FROM_BYTES, LanePairs.FROM_BYTES, LanePairs.FROM_BYTES, 1));
        return new LaneWorkers(lanes);
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
                Loopback.PATIENT);
        LanePairs.openLanes(pair);
        return pair;
    }

    /** The worker that would get the next lane. */
    private static LaneWorker next(LaneWorkers workers, Direction direction) throws IOException {
        LaneWorker[] next = new LaneWorker[1];
        workers.assign(1, direction, worker -> next[0] = worker);
        return next[0];
    }

    /** As NCCL opens its channels, in any order: to one neighbour, from the other. */
    @Test
    void lanesOfOneDirectionAreAssignedEvenly() throws IOException {
        for (int i = 0; i < WORKERS; i++) {
            open(one, other);
            if (i % 2 == 0) {
                open(other, one);
                open(other, one);
            }
        }
        for (LaneWorkers each : List.of(workersOfOne, workersOfOther)) {
            for (Direction direction : Direction.values()) {
                // there are as many of them as workers, so none has two if none has none
                assertThat(next(each, direction).lanes().count(direction))
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
        for (LaneWorkers each : List.of(workersOfOne, workersOfOther)) {
            LaneWorker next = next(each, Direction.OUTGOING);
            assertThat(next.lanes().count()).describedAs("lanes of any worker").isEqualTo(1);
        }
    }

    @Test
    void whatIsClosedCountsNoMore() throws IOException {
        for (int i = 0; i < WORKERS; i++) {
            open(one, other);
        }
        pairs.removeFirst().close();

        // all workers have been started, so an idle one is not a new one
        assertThat(next(workersOfOne, Direction.OUTGOING).lanes().count()).isZero();
        assertThat(next(workersOfOther, Direction.INCOMING).lanes().count()).isZero();
    }
}
