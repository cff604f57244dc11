package trigon.testsupport;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ManualClockTest {

    private final ManualClock clock = new ManualClock();

    @Test
    void timePassesWhenItIsMovedAndNeverElse() {
        long begin = clock.nanoTime();
        assertThat(clock.nanoTime() - begin).isZero();

        clock.advance(Duration.ofMinutes(1));

        assertThat(clock.nanoTime() - begin).isEqualTo(Duration.ofMinutes(1).toNanos());
    }

    @Test
    void whoeverWaitsIsWokenUpOnceTheTimeHasCome() {
        long begin = clock.nanoTime();
        List<Long> seen = new ArrayList<>();
        clock.whenAdvanced(() -> seen.add(clock.nanoTime() - begin));

        clock.advance(Duration.ofNanos(2));
        clock.advance(Duration.ofNanos(3));

        assertThat(seen).containsExactly(2L, 5L);
    }
}
