package trigon.policy.verify;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class CheckpointTest {

    @Test
    void lengthsBeyondAnIntStayTheLongest() {
        Checkpoint start = new Checkpoint(null, 0, null);
        Checkpoint middle = new Checkpoint(start, Integer.MAX_VALUE - 10, null);
        middle.ended(100);

        assertThat(middle.longest()).isEqualTo(100);
        assertThat(start.longest()).isEqualTo(Integer.MAX_VALUE);
        assertThat(Checkpoint.sum(Integer.MAX_VALUE, 1)).isEqualTo(Integer.MAX_VALUE);
        assertThat(Checkpoint.sum(Integer.MAX_VALUE, Integer.MAX_VALUE)).isEqualTo(Integer.MAX_VALUE);
    }
}
