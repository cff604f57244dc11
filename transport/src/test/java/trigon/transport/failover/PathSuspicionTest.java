package trigon.transport.failover;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class PathSuspicionTest {

    private final PathSuspicion suspicion = new PathSuspicion(List.of());

    @Test
    void whatSpeaksAgainstTheNextPathStaysThere() {
        suspicion.markBroken("the previous path");

        suspicion.moveTo(List.of());
        suspicion.markBroken("the next path");

        assertThat(suspicion.broken()).isEqualTo("the next path");
    }

    @Test
    void comesBackWhereThePreviousPathStaysInUse() {
        suspicion.markBroken("broken");
        suspicion.markDoubtful("doubtful");
        suspicion.markQuiet();

        PathSuspicion.Before before = suspicion.moveTo(List.of());
        assertThat(suspicion.isThere()).isFalse();
        suspicion.restore(before);

        assertThat(suspicion.broken()).isEqualTo("broken");
        assertThat(suspicion.isKnown()).isTrue();
    }

    @Test
    void silenceIsOverWhereItWasAllThereWas() {
        suspicion.markQuiet();

        assertThat(suspicion.clearIfHeard()).isTrue();
        assertThat(suspicion.isThere()).isFalse();
    }

    @Test
    void whatIsBrokenIsNotHeardAgain() {
        suspicion.markQuiet();
        suspicion.markBroken("broken");

        assertThat(suspicion.clearIfHeard()).isFalse();
        assertThat(suspicion.isThere()).isTrue();
    }

    @Test
    void aWeakerSuspicionHidesNoStrongerOne() {
        suspicion.markBroken("broken");
        suspicion.markDoubtful("doubtful");
        suspicion.markQuiet();

        assertThat(suspicion.broken()).isEqualTo("broken");
        assertThat(suspicion.words("otherwise")).isEqualTo("broken");
    }
}
