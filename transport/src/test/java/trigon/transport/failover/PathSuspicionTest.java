package trigon.transport.failover;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import trigon.handshake.LifelineEnd;
import trigon.transport.path.PathLoss;

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
    @SuppressWarnings("NullAway") // which path it is plays no part in that
    void aPathThatIsSilentForTooLongIsNoReasonToGiveUpThePeer() {
        PathLoss silence = new PathLoss.OfPeer("b", new LifelineEnd.Silent(Duration.ofSeconds(21)));

        assertThat(suspicion.note(null, silence, false)).isTrue();
        assertThat(suspicion.isKnown()).isTrue();
        assertThat(suspicion.isSilent()).isTrue();
        assertThat(suspicion.words()).contains("the peer has been silent for 21.0 s");
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
