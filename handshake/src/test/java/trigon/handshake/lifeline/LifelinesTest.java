package trigon.handshake.lifeline;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.Test;
import trigon.handshake.lifeline.Lifelines.BeatingChannel;
import trigon.testsupport.ManualClock;

/** The looks at channels, by a timer that runs what the test has it run. */
class LifelinesTest {

    private static final Duration HURRIED = Duration.ofNanos(Lifelines.HURRIED_NANOS);

    private final ManualClock clock = new ManualClock();
    private final Deque<Runnable> due = new ArrayDeque<>();
    private final Deque<Runnable> afterReading = new ArrayDeque<>();
    private final Lifelines lifelines = new Lifelines(
            new Lifelines.Timer() {
                @Override
                public void later(long nanos, Runnable task) {
                    due.add(task);
                }

                @Override
                public void afterReading(Runnable task) {
                    afterReading.add(task);
                }
            },
            clock);

    @Test
    void aChannelIsLookedAtForTheTimeThatHasPassed() {
        Looked channel = new Looked();
        lifelines.add(channel);
        lifelines.hurry(channel);

        for (int beat = 0; beat < 3; beat++) {
            clock.advance(HURRIED);
            due.remove().run();
            afterReading.remove().run();
        }

        assertThat(channel.looks).containsExactly(HURRIED.toNanos(), HURRIED.toNanos(), HURRIED.toNanos());
    }

    /** Between the moment that a look is about and the look, what has arrived is read, and handshakes end. */
    @Test
    void oneThatBeginsToHurryBeforeALookHasBeenSilentForNoTime() {
        Looked former = new Looked();
        Looked next = new Looked();
        lifelines.add(former);
        lifelines.add(next);
        lifelines.hurry(former);
        clock.advance(HURRIED);
        due.remove().run();

        clock.advance(Duration.ofMillis(1));
        lifelines.remove(former);
        lifelines.hurry(next);
        afterReading.remove().run();

        assertThat(next.looks).containsExactly(0L);
        clock.advance(HURRIED);
        due.remove().run();
        afterReading.remove().run();
        assertThat(next.looks).containsExactly(0L, HURRIED.toNanos());
    }

    /** One that is silent, and notes for how long it was looked at. */
    private final class Looked implements BeatingChannel {

        private final List<Long> looks = new ArrayList<>();
        private final SilenceClock silence = new SilenceClock(clock.nanoTime());

        @Override
        public void tellKey() {}

        @Override
        public void beat() {}

        @Override
        public void look(long passedNanos, long now) {
            silence.advance(passedNanos, now);
            looks.add(passedNanos);
        }

        @Override
        public boolean isDialled() {
            return true;
        }

        @Override
        public String peerAddress() {
            return "";
        }

        @Override
        public void letGo() {}
    }
}
