package trigon.policy;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class PolicyTest {

    @Test
    void theLongerAProgramTakesTheFewerRunsItHas() {
        assertThat(Policy.Program.warmUps(1))
                .isEqualTo(Policy.Program.warmUps(1000))
                .isEqualTo(30_000);
        assertThat(Policy.Program.warmUps(50_000)).isEqualTo(600);
        assertThat(Policy.Program.warmUps(200_000)).isEqualTo(150);
    }
}
