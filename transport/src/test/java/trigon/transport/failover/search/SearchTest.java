package trigon.transport.failover.search;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import trigon.testsupport.ManualClock;
import trigon.transport.testsupport.TestPaths;

/** The time after which a connection gives up: as long as the peer is not heard, and nothing else counts. */
class SearchTest {

    private static final Duration LIMIT = Duration.ofSeconds(20);

    private static final Found NOBODY = new Found(List.of(), false, false);
    private static final Found ALIVE = new Found(List.of(TestPaths.cable(1)), false, false);

    private final ManualClock clock = new ManualClock();
    private final Search search = new Search(clock);

    @Test
    void aPeerThatAnswersNowhereIsGivenUp() {
        search.observe(NOBODY);
        clock.advance(LIMIT);
        assertThat(search.isOver(LIMIT)).isFalse();
        clock.advance(Duration.ofNanos(1));
        assertThat(search.isOver(LIMIT)).isTrue();
    }

    @Test
    void queuesBeforeAMoveAreNoReasonToGiveUp() {
        for (int minute = 0; minute < 10; minute++) {
            search.observe(ALIVE);
            clock.advance(LIMIT);
            search.countFailedMove();
            assertThat(search.isOver(LIMIT)).as("minute %d", minute).isEqualTo(minute >= Search.MAX_FAILED_MOVES);
        }
    }

    @Test
    void movesThatFailAtOnceAreTriedForAsLongAsAnAnswerIsAwaited() {
        for (int move = 0; move < 100; move++) {
            search.observe(ALIVE);
            search.countFailedMove();
        }
        assertThat(search.isOver(LIMIT)).isFalse();
        clock.advance(LIMIT.plusNanos(1));
        search.observe(ALIVE);
        assertThat(search.isOver(LIMIT)).isTrue();

        search.restart();
        assertThat(search.isOver(LIMIT)).isFalse();
    }
}
