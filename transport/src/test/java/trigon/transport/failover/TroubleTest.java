package trigon.transport.failover;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class TroubleTest {

    private final Trouble trouble = new Trouble(List.of());

    @Test
    void whatSpeaksAgainstTheNextPathStaysThere() {
        trouble.breaks("the former path");

        trouble.turnsTo(List.of());
        trouble.breaks("the next path");

        assertThat(trouble.broken()).isEqualTo("the next path");
    }

    @Test
    void comesBackWhereTheFormerPathStaysInUse() {
        trouble.breaks("broken");
        trouble.doubts("doubtful");
        trouble.markQuiet();

        Trouble former = trouble.turnsTo(List.of());
        assertThat(trouble.isThere()).isFalse();
        trouble.restore(former);

        assertThat(trouble.broken()).isEqualTo("broken");
        assertThat(trouble.isKnown()).isTrue();
    }

    @Test
    void silenceIsOverWhereItWasAllThereWas() {
        trouble.markQuiet();

        assertThat(trouble.isHeardAgain()).isTrue();
        assertThat(trouble.isThere()).isFalse();
    }

    @Test
    void whatIsBrokenIsNotHeardAgain() {
        trouble.markQuiet();
        trouble.breaks("broken");

        assertThat(trouble.isHeardAgain()).isFalse();
        assertThat(trouble.isThere()).isTrue();
    }
}
