package trigon.tools.console;

import java.time.Duration;

/** What commands measure intervals with, and pause by: tests have it pass as they need it. */
public interface Time {

    /** This machine's. */
    Time SYSTEM = new Time() {
        @Override
        public long nanoTime() {
            return System.nanoTime();
        }

        @Override
        public void sleep(Duration time) throws InterruptedException {
            Thread.sleep(time);
        }
    };

    /** As {@link System#nanoTime}: compare differences only. */
    long nanoTime();

    /** Pauses this thread. */
    void sleep(Duration time) throws InterruptedException;
}
