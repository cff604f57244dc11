package trigon.testsupport;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
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
    void countsHowOftenItIsRead() {
        assertThat(clock.reads()).isZero();

        clock.nanoTime();
        clock.advance(Duration.ofMinutes(1));
        clock.nanoTime();

        assertThat(clock.reads()).isEqualTo(2);
    }
}
