package trigon.policy;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class WarmupTest {

    @Test
    void theLongerAProgramTakesTheFewerRunsItHas() {
        assertThat(Warmup.runs(1)).isEqualTo(Warmup.runs(1000)).isEqualTo(30_000);
        assertThat(Warmup.runs(50_000)).isEqualTo(600);
        assertThat(Warmup.runs(200_000)).isEqualTo(150);
    }
}
