package trigon.handshake.lifeline;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SilenceClockTest {

    private static final long BEAT = SilenceClock.BEAT_NANOS;

    private final SilenceClock silence = new SilenceClock(9 * BEAT);
    private int told;

    @Test
    void aPeerMayBeABeatLate() {
        silence.onQuiet(() -> told++);
        silence.recordHeard(10 * BEAT);

        silence.advance(BEAT, 11 * BEAT);
        silence.tellIfQuiet();
        assertThat(told).isZero();
        silence.advance(BEAT, 12 * BEAT);
        silence.tellIfQuiet();
        assertThat(told).isEqualTo(1);
        silence.recordHeard(12 * BEAT);
        assertThat(silence.isQuiet()).isFalse();
    }

    @Test
    void onlyAPeerThatHurriesIsMissedSooner() {
        silence.recordHeard(10 * BEAT);
        silence.recordHeard(11 * BEAT);
        silence.advance(BEAT, 12 * BEAT);
        silence.advance(BEAT, 13 * BEAT);
        assertThat(silence.hasMissed(1, Lifelines.HURRIED_NANOS)).isFalse();

        silence.recordHeard(12 * BEAT);
        silence.recordHeard(12 * BEAT + Lifelines.HURRIED_NANOS);
        silence.advance(2 * Lifelines.HURRIED_NANOS, 12 * BEAT + 3 * Lifelines.HURRIED_NANOS);
        silence.advance(Lifelines.HURRIED_NANOS, 12 * BEAT + 4 * Lifelines.HURRIED_NANOS);
        assertThat(silence.peerHurries()).isTrue();
        assertThat(silence.hasMissed(1, Lifelines.HURRIED_NANOS)).isTrue();
    }

    /** The peer answers signs of life, and a process that does not run says none. */
    @Test
    void aLookThatIsLateIsOneSignOfLifeThatIsMissed() {
        silence.recordHeard(10 * BEAT);
        silence.recordHeard(10 * BEAT + Lifelines.HURRIED_NANOS);

        silence.advance(2 * BEAT, 12 * BEAT);
        assertThat(silence.hasMissed(1, Lifelines.HURRIED_NANOS)).isFalse();
        silence.advance(Lifelines.HURRIED_NANOS, 12 * BEAT + Lifelines.HURRIED_NANOS);
        assertThat(silence.hasMissed(1, Lifelines.HURRIED_NANOS)).isTrue();
    }

    /** Between the moment that a look is about and the look, this process may not have run. */
    @Test
    void aLookDoesNotCountWhatCameAfterItsMoment() {
        silence.recordHeard(12 * BEAT);

        silence.advance(BEAT, 11 * BEAT);

        assertThat(silence.nanos()).isZero();
    }

    /** The sign of life came while this process was busy, and is read just before the look. */
    @Test
    void aLookThatIsLateDoesNotCountWhatWasHeardMeanwhile() {
        silence.recordHeard(10 * BEAT);
        silence.advance(BEAT / 2, 10 * BEAT + BEAT / 2);

        silence.recordHeard(12 * BEAT);
        silence.advance(2 * BEAT, 12 * BEAT + 1);

        assertThat(silence.nanos()).isEqualTo(1);
        assertThat(silence.isQuiet()).isFalse();
    }
}
