package trigon.transport.connect;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import trigon.routing.Path;
import trigon.transport.testsupport.TestPaths;

class PathScheduleTest {

    private static final Duration LIMIT = Duration.ofSeconds(10);

    private final Path one = TestPaths.cable(1);
    private final Path two = TestPaths.cable(2);
    private long now = 42;

    private final PathSchedule schedule = new PathSchedule(LIMIT, () -> now);

    @Test
    void aPathThatIsAwayIsTriedAgainAfterTheOthers() {
        schedule.add(List.of(one, two));
        assertThat(schedule.due()).containsExactly(one, two);

        schedule.begin(List.of(one));
        assertThat(schedule.away(one)).isTrue();

        pass(PathSchedule.FIRST_PAUSE.multipliedBy(2));
        assertThat(schedule.due()).as("what was not tried yet").containsExactly(two);
        schedule.begin(List.of(two));
        schedule.failed(two);
        assertThat(schedule.due()).containsExactly(one);
    }

    @Test
    void itIsTriedQuicklyAtFirstThenMoreSeldomUntilItsTimeIsOver() {
        schedule.add(List.of(one));
        List<Long> triesAtMillis = new ArrayList<>();
        long start = now;
        while (!schedule.isEmpty()) {
            assertThat(schedule.due()).containsExactly(one);
            schedule.begin(List.of(one));
            triesAtMillis.add(Duration.ofNanos(now - start).toMillis());
            if (schedule.away(one)) {
                assertThat(schedule.due()).isEmpty();
                assertThat(schedule.pause()).isPositive();
                pass(schedule.pause());
            }
        }
        assertThat(triesAtMillis).startsWith(0L, 50L, 150L, 350L, 750L, 1250L);
        assertThat(triesAtMillis.getLast()).isBetween(LIMIT.toMillis(), LIMIT.toMillis() + 500);
    }

    @Test
    void eachTryGetsWhatIsLeftOfThePathsTime() {
        schedule.add(List.of(one, two));
        schedule.begin(List.of(one));
        schedule.away(one);
        pass(Duration.ofSeconds(4));
        schedule.begin(List.of(two));

        assertThat(schedule.timeLeft(List.of(one))).isEqualTo(Duration.ofSeconds(6));
        assertThat(schedule.timeLeft(List.of(two))).isEqualTo(LIMIT);

        pass(Duration.ofSeconds(9));
        assertThat(schedule.timeLeft(List.of(one)))
                .as("where another path has used it up")
                .isEqualTo(LIMIT.dividedBy(4));
        assertThat(schedule.sinceFirst()).isEqualTo(Duration.ofSeconds(13));
    }

    @Test
    void aPathWhoseTimeIsOverIsDropped() {
        schedule.add(List.of(one));
        schedule.begin(List.of(one));
        pass(LIMIT);

        assertThat(schedule.away(one)).isFalse();

        assertThat(schedule.isEmpty()).isTrue();
        assertThat(schedule.due()).isEmpty();
        assertThat(schedule.pause()).isZero();
    }

    private void pass(Duration time) {
        now += time.toNanos();
    }
}
