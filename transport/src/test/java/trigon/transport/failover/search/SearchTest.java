package trigon.transport.failover.search;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import trigon.testsupport.ManualClock;

/** The time after which a connection gives up: moves fail one after the other, and nothing else counts. */
class SearchTest {

    private static final Duration LIMIT = Duration.ofSeconds(20);

    private final ManualClock clock = new ManualClock();
    private final Search search = new Search(clock);

    @Test
    void queuesBeforeAMoveAreNoReasonToGiveUp() {
        for (int minute = 0; minute < 10; minute++) {
            clock.advance(LIMIT);
            search.countFailedMove();
            assertThat(search.isOver(LIMIT)).as("minute %d", minute).isEqualTo(minute >= Search.MAX_FAILED_MOVES);
        }
    }

    @Test
    void movesThatFailAtOnceAreTriedForAsLongAsAnAnswerIsAwaited() {
        for (int move = 0; move < 100; move++) {
            search.countFailedMove();
        }
        assertThat(search.isOver(LIMIT)).isFalse();
        clock.advance(LIMIT.plusNanos(1));
        assertThat(search.isOver(LIMIT)).isTrue();

        search.restart();
        assertThat(search.isOver(LIMIT)).isFalse();
    }
}
