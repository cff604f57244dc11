package trigon.software.requester;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class TimerCodesTest {

    @Test
    void knowsTheRnrTimersOfTheManual() {
        // ibv_modify_qp(3): code and milliseconds
        double[][] table = {
            {0, 655.36},
            {1, 0.01},
            {2, 0.02},
            {3, 0.03},
            {4, 0.04},
            {5, 0.06},
            {6, 0.08},
            {7, 0.12},
            {8, 0.16},
            {9, 0.24},
            {12, 0.64},
            {15, 1.92},
            {20, 10.24},
            {25, 61.44},
            {30, 327.68},
            {31, 491.52}
        };
        for (double[] row : table) {
            assertThat(TimerCodes.rnrNanos((int) row[0]))
                    .as("code %s", row[0])
                    .isEqualTo(Math.round(row[1] * 1_000_000));
        }
    }

    @Test
    void waitsOncePerTry() {
        assertThat(TimerCodes.retryNanos(18, 6)).isEqualTo(4096L * (1 << 18) * 7);
        assertThat(TimerCodes.retryNanos(31, 7)).isEqualTo(4096L * (1L << 31) * 8);
    }

    @Test
    void waitsForEverOnZeroAndNeverLessThanThreadsNeed() {
        assertThat(TimerCodes.retryNanos(0, 7)).isZero();
        assertThat(TimerCodes.retryNanos(1, 0)).isEqualTo(Duration.ofMillis(500).toNanos());
    }
}
