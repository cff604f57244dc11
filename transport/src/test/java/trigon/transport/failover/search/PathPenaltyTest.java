package trigon.transport.failover.search;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import trigon.routing.Bandwidth;
import trigon.routing.LocalLink;
import trigon.routing.Path;
import trigon.routing.PeerLink;
import trigon.routing.Reason;
import trigon.system.NanoClock;
import trigon.transport.testsupport.TestPaths;
import trigon.verbs.LinkKind;

class PathPenaltyTest {

    private static final Path ONE = TestPaths.cable(1);
    private static final Path TWO = TestPaths.cable(2);
    private static final Path THREE = TestPaths.cable(3);

    @Test
    void pathsWithNothingAgainstThemGoFirst() {
        assertThat(least(Map.of(ONE, PathPenalty.FAILS_OFTEN, TWO, PathPenalty.NONE, THREE, PathPenalty.NONE)))
                .containsExactly(TWO, THREE);
    }

    /** Else both would be taken, and a connection over both needs both. */
    @Test
    void aPathThatFailsOftenGoesBeforeOneThatIsDead() {
        assertThat(least(Map.of(ONE, PathPenalty.DEAD, TWO, PathPenalty.FAILS_OFTEN, THREE, PathPenalty.HAS_FAILED)))
                .containsExactly(TWO);
    }

    /** One queue pair has failed; whether its link has is not known. */
    @Test
    void aLinkIsTriedAgainBeforeOneThatCarriesLess() {
        Path slow = new Path(
                "b",
                ONE.local(),
                ONE.remote(),
                LinkKind.SOFTWARE,
                new Reason.Relayed(List.of("c"), Bandwidth.of(100), 0));
        Path rdma = rdma(TWO);

        assertThat(compared(List.of(TWO, slow), TWO)).containsExactly(TWO);
        assertThat(compared(List.of(TWO, THREE), TWO)).containsExactly(THREE);
        assertThat(compared(List.of(rdma, THREE), rdma)).containsExactly(rdma);
    }

    @Test
    void whereThereIsNothingElseAllAreTaken() {
        assertThat(least(Map.of(
                        ONE, PathPenalty.HAS_FAILED, TWO, PathPenalty.HAS_FAILED, THREE, PathPenalty.HAS_FAILED)))
                .containsExactly(ONE, TWO, THREE);
        assertThat(PathPenalty.leastOf(List.of(), _ -> PathPenalty.NONE)).isEmpty();
    }

    @Test
    void anExclusionHoldsForOneRound() {
        Search search = new Search(NanoClock.SYSTEM);
        search.exclude(ONE);

        assertThat(search.penalty(_ -> PathPenalty.NONE).apply(ONE)).isEqualTo(PathPenalty.JUST_FAILED);
        assertThat(search.penalty(_ -> PathPenalty.NONE).apply(ONE)).isEqualTo(PathPenalty.NONE);
    }

    /** No path came up over either, when it was cut; since then the other one may have been mended. */
    @Test
    void whatHasJustFailedIsLeftOutThoughTheOthersAreDead() {
        Search search = new Search(NanoClock.SYSTEM);
        search.exclude(ONE);

        assertThat(PathPenalty.leastOf(List.of(ONE, TWO), search.penalty(_ -> PathPenalty.DEAD)))
                .containsExactly(TWO);
    }

    private static Path rdma(Path like) {
        LocalLink local = like.local();
        LocalLink device = new LocalLink(
                "roce", LinkKind.RDMA, "roce", 1, local.address(), 0, local.gid(), 10_000, local.interfaceName(), 9, 9);
        PeerLink remote =
                new PeerLink(like.remote().address(), like.remote().prefixLength(), 4711, Set.of(LinkKind.RDMA));
        return new Path("b", device, remote, LinkKind.RDMA, like.reason());
    }

    private static List<Path> compared(List<Path> paths, Path failed) {
        return PathPenalty.leastOf(
                paths,
                PathPenalty.among(paths, path -> path.equals(failed) ? PathPenalty.HAS_FAILED : PathPenalty.NONE));
    }

    private static List<Path> least(Map<Path, PathPenalty> penalty) {
        return PathPenalty.leastOf(List.of(ONE, TWO, THREE), path -> penalty.getOrDefault(path, PathPenalty.NONE));
    }
}
