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

        silence.passed(BEAT, 11 * BEAT);
        silence.tellIfQuiet();
        assertThat(told).isZero();
        silence.passed(BEAT, 12 * BEAT);
        silence.tellIfQuiet();
        assertThat(told).isEqualTo(1);
        silence.heard(12 * BEAT);
        assertThat(silence.isQuiet()).isFalse();
    }

    @Test
    void onlyAPeerThatHurriesIsMissedSooner() {
        silence.heard(10 * BEAT);
        silence.heard(11 * BEAT);
        silence.passed(BEAT, 12 * BEAT);
        assertThat(silence.isLongerThan(Pace.NANOS)).isFalse();

        silence.heard(12 * BEAT);
        silence.heard(12 * BEAT + Pace.NANOS);
        silence.passed(2 * Pace.NANOS, 12 * BEAT + 3 * Pace.NANOS);
        assertThat(silence.peerHurries()).isTrue();
        assertThat(silence.isLongerThan(Pace.NANOS)).isTrue();
    }

    /** The sign of life came while this process was busy, and is read just before the look. */
    @Test
    void aLookThatIsLateDoesNotCountWhatWasHeardMeanwhile() {
        silence.heard(10 * BEAT);
        silence.passed(BEAT / 2, 10 * BEAT + BEAT / 2);

        silence.heard(12 * BEAT);
        silence.passed(2 * BEAT, 12 * BEAT + 1);

        assertThat(silence.nanos()).isEqualTo(1);
        assertThat(silence.isQuiet()).isFalse();
    }
}
