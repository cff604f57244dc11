package trigon.handshake.lifeline;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SilenceTest {

    private static final long BEAT = Silence.BEAT_NANOS;

    private final Silence silence = new Silence(9 * BEAT);
    private int told;

    @Test
    void aPeerMayBeABeatLate() {
        silence.whenQuiet(() -> told++);
        silence.heard(10 * BEAT);

        silence.passed(BEAT);
        silence.tellIfQuiet();
        assertThat(told).isZero();
        silence.passed(BEAT);
        silence.tellIfQuiet();
        assertThat(told).isEqualTo(1);
        silence.heard(12 * BEAT);
        assertThat(silence.isQuiet()).isFalse();
    }

    @Test
    void onlyAPeerThatHurriesIsMissedSooner() {
        silence.heard(10 * BEAT);
        silence.heard(11 * BEAT);
        silence.passed(BEAT);
        assertThat(silence.isLongerThan(Pace.NANOS)).isFalse();

        silence.heard(12 * BEAT);
        silence.heard(12 * BEAT + Pace.NANOS);
        silence.passed(2 * Pace.NANOS);
        assertThat(silence.peerHurries()).isTrue();
        assertThat(silence.isLongerThan(Pace.NANOS)).isTrue();
    }
}
