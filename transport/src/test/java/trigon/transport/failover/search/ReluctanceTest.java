package trigon.transport.failover.search;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import trigon.routing.Path;
import trigon.system.NanoClock;
import trigon.transport.TestPaths;

class ReluctanceTest {

    private static final Path ONE = TestPaths.cable(1);
    private static final Path TWO = TestPaths.cable(2);
    private static final Path THREE = TestPaths.cable(3);

    @Test
    void pathsWithNothingAgainstThemGoFirst() {
        assertThat(least(Map.of(ONE, Reluctance.FAILS_OFTEN, TWO, Reluctance.NONE, THREE, Reluctance.NONE)))
                .containsExactly(TWO, THREE);
    }

    /** Else both would be taken, and a connection over both needs both. */
    @Test
    void aPathThatFailsOftenGoesBeforeOneThatIsDead() {
        assertThat(least(Map.of(ONE, Reluctance.HAS_FAILED, TWO, Reluctance.FAILS_OFTEN, THREE, Reluctance.HAS_FAILED)))
                .containsExactly(TWO);
    }

    @Test
    void whereThereIsNothingElseAllAreTaken() {
        assertThat(least(Map.of(ONE, Reluctance.HAS_FAILED, TWO, Reluctance.HAS_FAILED, THREE, Reluctance.HAS_FAILED)))
                .containsExactly(ONE, TWO, THREE);
        assertThat(Reluctance.leastOf(List.of(), _ -> Reluctance.NONE)).isEmpty();
    }

    @Test
    void anExclusionHoldsForOneRound() {
        Search search = new Search(NanoClock.SYSTEM);
        search.exclude(ONE);

        assertThat(search.reluctance(_ -> Reluctance.NONE).apply(ONE)).isEqualTo(Reluctance.HAS_FAILED);
        assertThat(search.reluctance(_ -> Reluctance.NONE).apply(ONE)).isEqualTo(Reluctance.NONE);
    }

    private static List<Path> least(Map<Path, Reluctance> reluctance) {
        return Reluctance.leastOf(List.of(ONE, TWO, THREE), path -> reluctance.getOrDefault(path, Reluctance.NONE));
    }
}
