package trigon.transport.failover.search;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import trigon.routing.Path;
import trigon.transport.testsupport.TestPaths;

class LatestPathsTest {

    private final LatestPaths latest = new LatestPaths();
    private final Path one = TestPaths.cable(1);
    private final Path two = TestPaths.cable(2);

    @Test
    void nothingIsAgainstTheFirstPaths() {
        assertThat(latest.fruitless(List.of(one), 0)).isEmpty();
    }

    @Test
    void pathsThatMessagesHaveGotAcrossAreTakenAgain() {
        latest.replace(List.of(one), 7);

        assertThat(latest.fruitless(List.of(one), 8)).isEmpty();
    }

    @Test
    void pathsThatNothingHasGotAcrossAreLeftOutOnce() {
        latest.replace(List.of(one, two), 7);

        assertThat(latest.fruitless(List.of(two), 7)).isEqualTo(Set.of(one, two));
        assertThat(latest.fruitless(List.of(two), 7)).isEmpty();
    }

    @Test
    void othersAreTakenAtOnce() {
        latest.replace(List.of(one), 7);

        assertThat(latest.fruitless(List.of(two), 7)).isEmpty();
    }
}
