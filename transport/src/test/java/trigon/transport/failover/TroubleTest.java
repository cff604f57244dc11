package trigon.transport.failover;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TroubleTest {

    private final Trouble trouble = new Trouble();

    @Test
    void whatSpeaksAgainstTheNextPathStaysThere() {
        trouble.breaks("the former path");

        trouble.isOver();
        trouble.breaks("the next path");

        assertThat(trouble.broken()).isEqualTo("the next path");
    }

    @Test
    void comesBackWhereTheFormerPathStaysInUse() {
        trouble.breaks("broken");
        trouble.doubts("doubtful");
        trouble.isQuiet();

        Trouble former = trouble.isOver();
        assertThat(trouble.isThere()).isFalse();
        trouble.isAgain(former);

        assertThat(trouble.broken()).isEqualTo("broken");
        assertThat(trouble.isKnown()).isTrue();
    }
}
