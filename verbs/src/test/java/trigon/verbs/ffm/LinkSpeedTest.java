package trigon.verbs.ffm;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LinkSpeedTest {

    private static final int FOUR_LANES = 2;

    @ParameterizedTest
    @CsvSource({"2, 128, 400000", "2, 64, 200000", "2, 32, 100000", "16, 64, 100000", "1, 32, 25000", "1, 4, 10000"})
    void multipliesLanesBySpeed(int width, int speed, int expected) {
        assertThat(LinkSpeed.megabitsPerSecond(width, speed, () -> 0)).isEqualTo(expected);
    }

    @Test
    void knowsNoSpeedOfAnUnknownCode() {
        assertThat(LinkSpeed.megabitsPerSecond(FOUR_LANES, 0, () -> 0)).isZero();
        assertThat(LinkSpeed.megabitsPerSecond(0, 32, () -> 0)).isZero();
    }

    @Test
    void asksTheKernelWhereTheCodesEnd() {
        assertThat(LinkSpeed.megabitsPerSecond(FOUR_LANES, 128, () -> 800_000)).isEqualTo(800_000);
        assertThat(LinkSpeed.megabitsPerSecond(FOUR_LANES, 128, () -> 0)).isEqualTo(400_000);
        assertThat(LinkSpeed.megabitsPerSecond(FOUR_LANES, 0, () -> 800_000)).isEqualTo(800_000);
    }

    @Test
    void believesTheCodesElsewhere() {
        assertThat(LinkSpeed.megabitsPerSecond(FOUR_LANES, 32, () -> 800_000)).isEqualTo(100_000);
    }
}
