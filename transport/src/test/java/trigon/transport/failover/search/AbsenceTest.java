package trigon.transport.failover.search;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class AbsenceTest {

    private static final Found GONE = new Found(List.of(), true, false);
    private static final Found UNKNOWN = new Found(List.of(), false, false);
    private static final long LASTS = Absence.LASTS.toNanos();

    /** From where a clock may begin. */
    private static final long START = -LASTS / 2;

    private final Absence absence = new Absence();

    @Test
    void hasToLast() {
        assertThat(absence.observe(GONE, START)).isFalse();
        assertThat(absence.observe(GONE, START + LASTS)).isFalse();
        assertThat(absence.observe(GONE, START + LASTS + 1)).isTrue();
    }

    @Test
    void beginsAnewAfterALookThatDoesNotSaySo() {
        assertThat(absence.observe(GONE, START)).isFalse();
        assertThat(absence.observe(UNKNOWN, START + LASTS)).isFalse();
        assertThat(absence.observe(GONE, START + LASTS + 1)).isFalse();
    }

    @Test
    void hasTheNextLookComeInTime() {
        Duration otherwise = Duration.ofMillis(500);
        assertThat(absence.until(otherwise, START)).isEqualTo(otherwise);

        assertThat(absence.observe(GONE, START)).isFalse();

        assertThat(absence.until(otherwise, START)).isEqualTo(otherwise);
        assertThat(absence.until(otherwise, START + LASTS)).isEqualTo(Duration.ofMillis(1));
    }
}
